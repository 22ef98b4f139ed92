/* SPDX-License-Identifier: Apache-2.0 */
#include "io/mailbox.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "io/socket.h"

enum {
    ASLEEP, /* nobody looks: a ring must write the eventfd */
    AWAKE,  /* the loop's thread is at work and looks at the state before it sleeps */
    RUNG    /* work was noted; whoever noted it has written the eventfd if that was needed */
};

struct nri_letter {
    struct nri_letter *next;
    union nri_letter_fn fn;
    void *arg;
};

int nri_mailbox_init(struct nri_mailbox *mailbox, const struct nri_alloc *alloc,
                     nri_mailbox_call call, struct nri_error *error)
{
    mailbox->alloc = *alloc;
    mailbox->call = call;
    mailbox->first = NULL;
    mailbox->end = &mailbox->first;
    mailbox->closed = false;
    atomic_init(&mailbox->state, ASLEEP);
    atomic_init(&mailbox->stop, false);
    atomic_init(&mailbox->filled, false);
    int rc = nri_lock_init(&mailbox->lock);
    if (rc != 0)
        return nri_error_set(error, rc, "out of memory");
    mailbox->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (mailbox->fd < 0) {
        rc = nri_socket_error(error, errno, "eventfd");
        nri_lock_fini(&mailbox->lock);
    }
    return rc;
}

void nri_mailbox_fini(struct nri_mailbox *mailbox)
{
    (void)close(mailbox->fd);
    nri_lock_fini(&mailbox->lock);
}

static void write_bell(const struct nri_mailbox *mailbox)
{
    /* A signal handler must leave errno as it found it. */
    int saved = errno;
    uint64_t one = 1;
    while (write(mailbox->fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
    errno = saved;
}

void nri_mailbox_ring(struct nri_mailbox *mailbox)
{
    if (atomic_exchange(&mailbox->state, RUNG) == ASLEEP)
        write_bell(mailbox);
}

void nri_mailbox_stop(struct nri_mailbox *mailbox)
{
    atomic_store(&mailbox->stop, true);
    nri_mailbox_ring(mailbox);
}

bool nri_mailbox_take_stop(struct nri_mailbox *mailbox)
{
    return atomic_exchange(&mailbox->stop, false);
}

int nri_mailbox_post(struct nri_mailbox *mailbox, union nri_letter_fn fn, void *arg)
{
    struct nri_letter *letter = nri_alloc_raw(&mailbox->alloc, sizeof *letter);
    if (letter == NULL)
        return NRI_E_NOMEM;
    *letter = (struct nri_letter){.fn = fn, .arg = arg};
    nri_lock_take(&mailbox->lock);
    bool closed = mailbox->closed;
    if (!closed) {
        *mailbox->end = letter;
        mailbox->end = &letter->next;
        atomic_store(&mailbox->filled, true);
    }
    nri_lock_give(&mailbox->lock);
    if (closed) {
        nri_alloc_release(&mailbox->alloc, letter);
        return NRI_E_STATE;
    }
    nri_mailbox_ring(mailbox);
    return 0;
}

void nri_mailbox_begin(struct nri_mailbox *mailbox, bool readable)
{
    uint64_t count;
    atomic_store(&mailbox->state, AWAKE);
    /* Whatever was rung is looked for after this, so that the count does not matter. */
    while (readable && read(mailbox->fd, &count, sizeof count) < 0 && errno == EINTR)
        continue;
}

bool nri_mailbox_end(struct nri_mailbox *mailbox)
{
    int awake = AWAKE;
    return atomic_compare_exchange_strong(&mailbox->state, &awake, ASLEEP);
}

void nri_mailbox_defer(struct nri_mailbox *mailbox)
{
    atomic_store(&mailbox->state, RUNG);
    write_bell(mailbox);
}

/* Whoever posts rings afterwards, so that a letter that is missed here is seen by the look that
 * follows. */
static struct nri_letter *take_letters(struct nri_mailbox *mailbox, bool close)
{
    if (!close && !atomic_load(&mailbox->filled))
        return NULL;
    nri_lock_take(&mailbox->lock);
    atomic_store(&mailbox->filled, false);
    struct nri_letter *first = mailbox->first;
    mailbox->first = NULL;
    mailbox->end = &mailbox->first;
    mailbox->closed = mailbox->closed || close;
    nri_lock_give(&mailbox->lock);
    return first;
}

static void call_letters(struct nri_mailbox *mailbox, struct nri_letter *first, void *owner)
{
    while (first != NULL) {
        struct nri_letter letter = *first;
        nri_alloc_release(&mailbox->alloc, first);
        mailbox->call(owner, letter.fn, letter.arg);
        first = letter.next;
    }
}

void nri_mailbox_deliver(struct nri_mailbox *mailbox, void *owner)
{
    call_letters(mailbox, take_letters(mailbox, false), owner);
}

void nri_mailbox_close(struct nri_mailbox *mailbox, void *owner)
{
    call_letters(mailbox, take_letters(mailbox, true), owner);
}
