/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor of a start and of memory: a program that writes one byte to NRI_PLUGIN_SOCKET and waits
 * for the end of it.
 */
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    const char *text = getenv("NRI_PLUGIN_SOCKET");
    char byte = 'x';
    if (text == NULL || write(atoi(text), &byte, 1) != 1)
        return 1;
    return read(atoi(text), &byte, 1) == 0 ? 0 : 1;
}
