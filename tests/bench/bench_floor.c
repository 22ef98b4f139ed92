/* SPDX-License-Identifier: Apache-2.0 */
/* The floor of a start: a program that writes one byte to NRI_PLUGIN_SOCKET and ends. */
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    const char *text = getenv("NRI_PLUGIN_SOCKET");
    return text != NULL && write(atoi(text), "x", 1) == 1 ? 0 : 1;
}
