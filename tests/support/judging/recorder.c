/* Started as `driver`: runs texts in shells, one after another, and tells what was started in each. Started by any other name:
 * stands for that program, tells with which words and surroundings it was started, and does nothing else.
 *
 * Requests on standard input: a line `SHELL ARGV0 STATUS SECONDS HOW LENGTH`, and LENGTH bytes of text: for `SHELL -c TEXT`
 * where HOW is `-c`, else for `SHELL FILE` where it is `file`, or `SHELL HOW FILE` with that option.
 * Answers on standard output, each a length of 4 bytes, low byte first, and so many bytes: R and a record of a started program
 * (NUL behind each of: argv, an empty one, environment, an empty one, folder, umask, `fd dev:ino:rdev:mode` ..., an empty
 * one, what standard input held), P and what came on the text's standard output, L and the name of something that lies in /tmp behind the run, E and `exit status` or
 * `timeout`, which ends the answers to one request.
 * Records go through a datagram socket of the namespace: there is no file that a text could write to.
 * Build: cc -O2 -o recorder recorder.c */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 150000, STDIN_MOST = 60000, PRINTED_MOST = 60000, DESCRIPTORS = 64 };
static const char script[] = "/judge/texts/script";
static const char outer[] = "/judge/stdin"; /* what a run's standard input is: who inherits it must not read it */
static char record[MOST + STDIN_MOST + 16];
static size_t filled;
static char printed[PRINTED_MOST];

static void die(const char *what) {
    fprintf(stderr, "recorder: %s: %s\n", what, strerror(errno));
    _exit(99);
}

static struct sockaddr_un address(socklen_t *length) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    memcpy(a.sun_path, "\0exacell-judge", 14);
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 14);
    return a;
}

static void add(const char *text) {
    size_t length = strlen(text) + 1;
    if (filled + length > MOST) length = 1, text = "";
    memcpy(record + filled, text, length);
    filled += length;
}

extern char **environ;

static int stand_in(char **argv) {
    char line[200], folder[4096];
    struct stat mine, theirs;
    record[filled++] = 'R';
    for (char **word = argv; *word; word++) {
        char escaped[8192];
        snprintf(escaped, sizeof escaped, "=%s", *word); /* an empty word is none of the empty ones that part */
        add(escaped);
    }
    add("");
    for (char **pair = environ; *pair; pair++)
        if (**pair) add(*pair);
    add("");
    add(getcwd(folder, sizeof folder) ? folder : "?");
    mode_t mask = umask(0);
    snprintf(line, sizeof line, "%03o", (unsigned)mask);
    add(line);
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        if (fstat(fd, &mine) == 0) {
            snprintf(line, sizeof line, "%d %lx:%lu:%lx:%o", fd, (unsigned long)mine.st_dev, (unsigned long)mine.st_ino,
                     (unsigned long)mine.st_rdev, (unsigned)(mine.st_mode & S_IFMT));
            add(line);
        }
    add("");
    if (fstat(0, &mine) == 0 && stat(outer, &theirs) == 0 && (mine.st_dev != theirs.st_dev || mine.st_ino != theirs.st_ino)) {
        ssize_t got;
        size_t read_so_far = 0;
        while (read_so_far < STDIN_MOST && (got = read(0, record + filled, STDIN_MOST - read_so_far)) > 0)
            filled += (size_t)got, read_so_far += (size_t)got;
    }
    socklen_t length;
    struct sockaddr_un to = address(&length);
    int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), size = 1 << 20;
    if (s < 0) die("socket");
    setsockopt(s, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    if (sendto(s, record, filled, 0, (struct sockaddr *)&to, length) < 0) die("sendto");
    signal(SIGPIPE, SIG_IGN);
    if (write(1, "touch evil\n", 11) < 0) errno = 0;
    const char *status = getenv("JUDGE_STATUS");
    if (!status || !*status) return 0;
    /* Commands of one text end differently, and each of them the same every time. */
    unsigned sum = 0;
    for (char **word = argv; *word; word++)
        for (const char *c = *word; *c; c++) sum = sum * 31 + (unsigned char)*c;
    return (status[sum % strlen(status)] - '0') & 1;
}

static void answer(char kind, const char *bytes, size_t length) {
    unsigned char head[5] = {(length + 1) & 255, ((length + 1) >> 8) & 255, ((length + 1) >> 16) & 255, (length + 1) >> 24, (unsigned char)kind};
    fwrite(head, 1, 5, stdout);
    fwrite(bytes, 1, length, stdout);
}

static void take(int s) {
    ssize_t got;
    while ((got = recv(s, record, sizeof record, MSG_DONTWAIT)) > 0) answer(record[0], record + 1, (size_t)got - 1);
}

static void left(const char *folder) {
    DIR *d = opendir(folder);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) {
            char name[600];
            int n = snprintf(name, sizeof name, "%s/%s", folder, e->d_name);
            answer('L', name, (size_t)n);
            if (unlink(name) != 0) rmdir(name);
        }
    closedir(d);
}

static long now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void run(const char *shell, const char *argv0, const char *status, int seconds, const char *how,
                const char *text, size_t bytes, int s, int signals) {
    int out[2], err[2], command = strcmp(how, "-c") == 0, plain = strcmp(how, "file") == 0;
    if (!command) {
        int file = open(script, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
        if (file < 0 || write(file, text, bytes) != (ssize_t)bytes || close(file)) die(script);
    }
    if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) die("pipe");
    pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid == 0) {
        struct rlimit cpu = {(rlim_t)seconds + 1, (rlim_t)seconds + 2}, file = {1 << 20, 1 << 20}, core = {0, 0};
        char setting[200];
        snprintf(setting, sizeof setting, "JUDGE_STATUS=%s", status);
        char *env[] = {"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/home/judge", "LC_ALL=C", "USER=nobody", "LOGNAME=nobody", setting, NULL};
        char *argv[] = {(char *)argv0, (char *)how, (char *)(command ? text : script), NULL};
        if (plain) argv[1] = (char *)script, argv[2] = NULL;
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        setrlimit(RLIMIT_CPU, &cpu), setrlimit(RLIMIT_FSIZE, &file), setrlimit(RLIMIT_CORE, &core);
        setsid();
        if (chdir("/judge/cwd")) die("chdir");
        umask(022);
        int in = open(outer, O_RDONLY);
        if (in < 0 || dup2(in, 0) < 0 || dup2(out[1], 1) < 0 || dup2(err[1], 2) < 0) die("dup2");
        if (in > 2) close(in);
        execve(shell, argv, env);
        die(shell);
    }
    struct stat mine[3];
    char line[300];
    int n = 0;
    stat(outer, &mine[0]), fstat(out[0], &mine[1]), fstat(err[0], &mine[2]);
    for (int i = 0; i < 3; i++)
        n += snprintf(line + n, sizeof line - (size_t)n, "%s%lx:%lu:%lx:%o", i ? " " : "", (unsigned long)mine[i].st_dev,
                      (unsigned long)mine[i].st_ino, (unsigned long)mine[i].st_rdev, (unsigned)(mine[i].st_mode & S_IFMT));
    answer('O', line, (size_t)n);
    close(out[1]), close(err[1]);
    long end = now_ms() + 1000L * seconds;
    int ended = -1, late = 0, alone = 0, watched_out = out[0], watched_err = err[0];
    char said[2000];
    size_t said_bytes = 0, printed_bytes = 0;
    while (!alone) {
        struct pollfd fds[] = {{s, POLLIN, 0}, {signals, POLLIN, 0}, {watched_out, POLLIN, 0}, {watched_err, POLLIN, 0}};
        long wait = end - now_ms();
        if (wait <= 0) {
            late = 1;
            kill(-1, SIGKILL);
            end = now_ms() + 1000;
            continue;
        }
        if (poll(fds, 4, (int)wait) < 0 && errno != EINTR) die("poll");
        char buffer[4096];
        take(s);
        if (fds[2].revents & POLLIN) {
            ssize_t got = read(out[0], buffer, sizeof buffer);
            if (got < 0) die("read");
            size_t part = (size_t)got < sizeof printed - printed_bytes ? (size_t)got : sizeof printed - printed_bytes;
            memcpy(printed + printed_bytes, buffer, part), printed_bytes += part;
        }
        if (fds[3].revents & POLLIN) {
            ssize_t got = read(err[0], buffer, sizeof buffer);
            if (got > 0 && said_bytes < sizeof said) {
                size_t part = (size_t)got < sizeof said - said_bytes ? (size_t)got : sizeof said - said_bytes;
                memcpy(said + said_bytes, buffer, part), said_bytes += part;
            }
        }
        if ((fds[2].revents & (POLLHUP | POLLIN)) == POLLHUP) watched_out = -1;
        if ((fds[3].revents & (POLLHUP | POLLIN)) == POLLHUP) watched_err = -1;
        struct signalfd_siginfo info;
        while (read(signals, &info, sizeof info) > 0) continue;
        int state;
        pid_t got;
        while ((got = waitpid(-1, &state, WNOHANG)) > 0)
            if (got == pid) ended = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
        alone = got < 0 && errno == ECHILD;
    }
    take(s);
    ssize_t got = 0;
    char buffer[2000];
    fcntl(err[0], F_SETFL, O_NONBLOCK);
    while (said_bytes < sizeof said && (got = read(err[0], buffer, sizeof said - said_bytes)) > 0)
        memcpy(said + said_bytes, buffer, (size_t)got), said_bytes += (size_t)got;
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    while (printed_bytes < sizeof printed && (got = read(out[0], printed + printed_bytes, sizeof printed - printed_bytes)) > 0)
        printed_bytes += (size_t)got;
    close(out[0]), close(err[0]);
    if (printed_bytes) answer('P', printed, printed_bytes);
    left("/tmp");
    if (said_bytes) answer('S', said, said_bytes);
    n = late ? snprintf(line, sizeof line, "timeout") : snprintf(line, sizeof line, "%d", ended);
    answer('E', line, (size_t)n);
    fflush(stdout);
}

static int drive(void) {
    socklen_t length;
    struct sockaddr_un at = address(&length);
    int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), size = 1 << 22;
    if (s < 0 || bind(s, (struct sockaddr *)&at, length)) die("bind");
    setsockopt(s, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    fcntl(0, F_SETFD, FD_CLOEXEC), fcntl(1, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t child;
    sigemptyset(&child), sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    int signals = signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
    char line[2000], shell[500], argv0[100], status[100], how[20];
    int seconds;
    size_t bytes;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%499s %99s %99s %d %19s %zu", shell, argv0, status, &seconds, how, &bytes) != 6) die("request");
        char *text = calloc(bytes + 1, 1);
        if (!text || fread(text, 1, bytes, stdin) != bytes) die("text");
        run(shell, argv0, status, seconds, how, text, bytes, s, signals);
        free(text);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 1 && strcmp(argv[0], "/judge/driver") == 0) return drive();
    return stand_in(argv);
}
