/* Holds a pod's namespaces and reaps what is orphaned into its process namespace. */
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(int sign) {
  (void)sign;
  _exit(0);
}

static void reap(int sign) {
  (void)sign;
  while (waitpid(-1, NULL, WNOHANG) > 0) {
  }
}

int main(void) {
  struct sigaction ends = {.sa_handler = end};
  struct sigaction reaps = {.sa_handler = reap, .sa_flags = SA_NOCLDSTOP};
  if (sigaction(SIGINT, &ends, NULL) || sigaction(SIGTERM, &ends, NULL) || sigaction(SIGCHLD, &reaps, NULL))
    return EXIT_FAILURE;
  for (;;)
    pause();
}
