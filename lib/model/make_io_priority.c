/* SPDX-License-Identifier: Apache-2.0 */
/* LinuxIOPriority: the rules are those of ioprio_set(2). */
#include <nri/scheduler.h>

#include "model/make.h"

int nri_make_io_priority(struct nri_builder *builder, int ioprio_class, int32_t priority,
                         NRI_MESSAGE(LinuxIOPriority) * *message)
{
    const struct nri_where class_field = {.name = "I/O priority class"};
    const struct nri_where field = {.name = "I/O priority"};
    int code = nri_check_signed(builder, &class_field, ioprio_class,
                                ioprio_class >= NRI_IOPRIO_CLASS_NONE &&
                                    ioprio_class <= NRI_IOPRIO_CLASS_IDLE,
                                "must be 0 to 3");
    if (code == 0)
        code = nri_check_signed(builder, &field, priority, priority >= 0 && priority <= 7,
                                "must be 0 (highest) to 7");
    if (code == 0)
        code = nri_check_signed(builder, &field, priority,
                                ioprio_class != NRI_IOPRIO_CLASS_NONE || priority == 0,
                                "must be 0 with IOPRIO_CLASS_NONE");
    if (code != 0)
        return code;
    NRI_MESSAGE(LinuxIOPriority) *made =
        nri_make_empty(builder, &nri__pkg__api__v1alpha1__linux_iopriority__descriptor);
    if (made == NULL)
        return nri_builder_refuse_memory(builder, &field);
    made->class_ = (NRI_MESSAGE(IOPrioClass))ioprio_class;
    made->priority = priority;
    *message = made;
    return 0;
}
