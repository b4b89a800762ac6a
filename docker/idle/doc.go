// Command simplex-idle is the first process of a container that is kept for workers.
//
// It owns nothing but the container's life: it waits, and it reaps what is orphaned. It
// starts nothing, reads nothing and needs no library, shell or file of the image; workers
// and managers come by `docker exec`.
//
// On SIGTERM or SIGINT, as from `docker stop`, it hands SIGTERM to every command that
// `docker exec` started, and ends once they have: the kernel kills whatever is left in a
// container the moment its first process ends, and a worker has to save. What these
// commands started is theirs to end. How long all this may take is the engine's matter
// (`--stop-timeout`); a container without commands stops at once. Where it is not the
// first process (`--init`, `--pid=host`) it signals nobody.
package main
