/* The least that a client can do, to measure others against: libssh2, one thread a host, no host key is looked at.
 *
 *   floor HOSTFILE PORT USER KEY COMMAND    connects, runs COMMAND everywhere, prints "host: line", ends
 *   floor HOSTFILE PORT USER KEY            stays connected and runs each line of standard input
 *
 * Build: cc -O2 -o floor floor.c -lssh2 -lpthread */
#include <arpa/inet.h>
#include <libssh2.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 512, PIECE = 1 << 16 };

struct host {
    char name[64];
    LIBSSH2_SESSION *session;
    char *text;
    size_t used, room;
    pthread_t thread;
};

static struct host hosts[MOST];
static int count, port, stays;
static const char *user, *key;
static char public_key[4096], command[4096];
static pthread_barrier_t begin, end;

static void die(const struct host *host, const char *what) {
    fprintf(stderr, "%s: %s\n", host->name, what);
    _exit(1);
}

static void open_link(struct host *host) {
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(port)};
    int yes = 1, sock = socket(AF_INET, SOCK_STREAM, 0);
    inet_pton(AF_INET, host->name, &there.sin_addr);
    setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(sock, (struct sockaddr *)&there, sizeof there)) die(host, "connect");
    host->session = libssh2_session_init();
    libssh2_session_method_pref(host->session, LIBSSH2_METHOD_KEX, "curve25519-sha256,ecdh-sha2-nistp256");
    if (libssh2_session_handshake(host->session, sock)) die(host, "handshake");
    if (libssh2_userauth_publickey_fromfile(host->session, user, public_key, key, NULL)) die(host, "login");
}

static void run(struct host *host) {
    LIBSSH2_CHANNEL *channel = libssh2_channel_open_session(host->session);
    if (!channel || libssh2_channel_exec(channel, command)) die(host, "command");
    host->used = 0;
    for (ssize_t got = 1; got > 0; host->used += got > 0 ? got : 0) {
        if (host->room - host->used < PIECE) host->text = realloc(host->text, host->room = 2 * host->room + 2 * PIECE);
        got = libssh2_channel_read(channel, host->text + host->used, host->room - host->used);
    }
    libssh2_channel_close(channel);
    libssh2_channel_free(channel);
}

static void *work(void *argument) {
    struct host *host = argument;
    open_link(host);
    if (!stays) {
        run(host);
        return NULL;
    }
    for (;;) {
        pthread_barrier_wait(&end);
        pthread_barrier_wait(&begin);
        run(host);
    }
}

static void print_all(void) {
    for (struct host *host = hosts; host < hosts + count; host++)
        for (char *at = host->text, *stop = at + host->used; at < stop;) {
            char *newline = memchr(at, '\n', stop - at);
            size_t size = (newline ? newline + 1 : stop) - at;
            fputs(host->name, stdout);
            fputs(": ", stdout);
            fwrite(at, 1, size, stdout);
            at += size;
        }
    fflush(stdout);
}

int main(int argc, char **argv) {
    static char buffer[1 << 20];
    if (argc < 5) return 2;
    FILE *file = fopen(argv[1], "r");
    while (file && count < MOST && fscanf(file, "%63s", hosts[count].name) == 1) count++;
    port = atoi(argv[2]), user = argv[3], key = argv[4], stays = argc == 5;
    snprintf(public_key, sizeof public_key, "%s.pub", key);
    if (!stays) snprintf(command, sizeof command, "%s", argv[5]);
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    libssh2_init(0);
    pthread_barrier_init(&begin, NULL, count + 1);
    pthread_barrier_init(&end, NULL, count + 1);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    for (struct host *host = hosts; host < hosts + count; host++) pthread_create(&host->thread, &small, work, host);
    if (!stays) {
        for (struct host *host = hosts; host < hosts + count; host++) pthread_join(host->thread, NULL);
        print_all();
        _exit(0);
    }
    pthread_barrier_wait(&end);
    puts("ready");
    fflush(stdout);
    while (fgets(command, sizeof command, stdin)) {
        command[strcspn(command, "\n")] = 0;
        pthread_barrier_wait(&begin);
        pthread_barrier_wait(&end);
        print_all();
    }
    _exit(0);
}
