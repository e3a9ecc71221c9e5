/* The beginning of the one file: unpacks exacell into a folder of the user, once, and starts it with its own libraries.
 *
 * With a payload behind it (executable.py puts it there) this is the file that is handed out. Without one it is bin/python in the
 * unpacked folder, so that what exacell starts with sys.executable comes up the same way. It is static: it needs no libc of the host,
 * and hands its children no variable of its own.
 *
 * Behind the program: the contents of all files, one after another, compressed with zstd; the index, one line a file
 * ("d PATH", "f SIZE PATH", "x SIZE PATH" for one that may be run); the trailer below.
 *
 * An unpacked folder is named after the payload's digest and appears by rename, so that a part of one has never the name of a whole one. Before
 * each start every file's owner, mode, size and time are looked at; where one is not as it was written, all is unpacked again.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#define OWN_FOLDER "EXACELL_PROGRAM_DIR"
#define PRELOAD "LD_PRELOAD"
#define KEPT_PRELOAD "EXACELL_KEPT_LD_PRELOAD"
#define ENDS_WITH 1
#define WAIT_S 60

struct trailer {
    uint64_t payload, payload_size, index, index_size, total, mtime;
    char digest[16];
    char magic[8]; /* last: what the file ends with */
};
#define MAGIC "exacell1"

static int self = -1;
static struct trailer tail;
static char *lines; /* the index */
static char reasons[4096];

/* Note why a folder will not do; all of it is said where none does. */
static int no(const char *folder, const char *why) {
    size_t used = strlen(reasons);
    snprintf(reasons + used, sizeof reasons - used, "%s%s: %s", used ? "; " : "", folder, why);
    return -1;
}

static void die(const char *format, ...) {
    va_list words;
    va_start(words, format);
    fputs("exacell: ", stderr);
    vfprintf(stderr, format, words);
    fputc('\n', stderr);
    exit(ENDS_WITH);
}

/* Nobody but us and root can put something into this folder, or another one into its place. */
static int trusted(const char *folder) {
    char path[PATH_MAX];
    if (!realpath(folder, path)) return no(folder, strerror(errno));
    struct stat is;
    for (int first = 1;; first = 0) {
        if (lstat(path, &is)) return no(folder, strerror(errno));
        if (is.st_uid != geteuid() && (first || is.st_uid != 0)) return no(folder, "belongs to another user");
        if ((is.st_mode & 022) && (first || !(is.st_mode & S_ISVTX))) return no(folder, "others can write there");
        char *slash = strrchr(path, '/');
        if (!path[1]) return 0;
        *(slash == path ? slash + 1 : slash) = 0;
    }
}

static int make_folders(char *path) {
    for (char *at = path + 1; ; at++)
        if (*at == '/' || !*at) {
            char was = *at;
            *at = 0;
            int bad = mkdir(path, 0700) && errno != EEXIST;
            int error = errno;
            struct stat is;
            if (bad && !stat(path, &is)) bad = 0; /* EROFS and EACCES also where it is there */
            *at = was;
            if (bad) return errno = error, -1;
            if (!was) return 0;
        }
}

/* Take the next line of the index: its kind, the file's size and its path. */
static char *next(char **at, char *kind, uint64_t *size, char path[PATH_MAX]) {
    char *line = *at, *end = strchr(line, '\n');
    if (!end) return NULL;
    *at = end + 1;
    *kind = *line;
    char *word = line + 2;
    *size = *kind == 'd' ? 0 : strtoull(word, &word, 10);
    if (*kind != 'd') word++;
    if (end - word >= PATH_MAX) die("this file is damaged: compare it with SHA256SUMS");
    memcpy(path, word, end - word);
    path[end - word] = 0;
    return path;
}

/* The folder holds every file as it was unpacked, and only we can have written them. */
static int whole(int folder) {
    struct stat is;
    if (fstat(folder, &is) || is.st_uid != geteuid() || (is.st_mode & 022)) return 0;
    char path[PATH_MAX], kind, *at = lines;
    uint64_t size;
    while (next(&at, &kind, &size, path)) {
        if (fstatat(folder, path, &is, AT_SYMLINK_NOFOLLOW) || is.st_uid != geteuid() || (is.st_mode & 022)) return 0;
        if (kind == 'd' ? !S_ISDIR(is.st_mode) : !S_ISREG(is.st_mode)) return 0;
        if (kind != 'd' && ((uint64_t)is.st_size != size || (uint64_t)is.st_mtime != tail.mtime)) return 0;
    }
    return 1;
}

static int write_all(int to, const char *data, size_t size) {
    while (size) {
        ssize_t done = write(to, data, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return -1;
        data += done, size -= done;
    }
    return 0;
}

/* Write the payload's files into an empty folder. */
static int unpack(int folder) {
    static char out[1 << 17];
    char *in = mmap(NULL, tail.payload + tail.payload_size, PROT_READ, MAP_PRIVATE, self, 0);
    if (in == MAP_FAILED) return -1;
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer from = {in, tail.payload + tail.payload_size, tail.payload};
    ZSTD_outBuffer to = {out, sizeof out, 0};
    size_t taken = 0, left = 1; /* bytes to come, 0 when all is there and the checksum right */
    char path[PATH_MAX], kind, *at = lines;
    uint64_t size;
    struct timespec times[2] = {{.tv_sec = tail.mtime}, {.tv_sec = tail.mtime}};
    while (next(&at, &kind, &size, path)) {
        if (kind == 'd') {
            if (mkdirat(folder, path, 0755)) return -1;
            continue;
        }
        int file = openat(folder, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kind == 'x' ? 0755 : 0644);
        if (file < 0) return -1;
        while (size) {
            if (taken == to.pos) {
                to.pos = taken = 0;
                left = ZSTD_decompressStream(stream, &to, &from);
                if (ZSTD_isError(left) || (!to.pos && from.pos == from.size)) die("this file is damaged: compare it with SHA256SUMS");
                continue;
            }
            size_t part = to.pos - taken < size ? to.pos - taken : size;
            if (write_all(file, out + taken, part)) {
                int error = errno;
                close(file);
                return errno = error, -1;
            }
            taken += part, size -= part;
        }
        if (futimens(file, times) | close(file)) return -1;
    }
    to.pos = 0;
    if (left && ZSTD_decompressStream(stream, &to, &from)) die("this file is damaged: compare it with SHA256SUMS");
    if (fchmod(folder, 0755)) return -1; /* base lets nobody in; an emulated host's users see this folder alone */
    ZSTD_freeDStream(stream);
    munmap(in, tail.payload + tail.payload_size);
    return 0;
}

static int drop(const char *path, const struct stat *is, int kind, struct FTW *ftw) {
    (void)is, (void)kind, (void)ftw;
    remove(path);
    return 0;
}

static void remove_tree(const char *path) { nftw(path, drop, 16, FTW_DEPTH | FTW_PHYS); }

/* Take away what older versions, and broken-off starts, have left and no process holds. */
static void tidy(const char *base, const char *kept) {
    DIR *all = opendir(base);
    if (!all) return;
    for (struct dirent *one; (one = readdir(all));) {
        if (strncmp(one->d_name, "exacell-", 8) || !strcmp(one->d_name, kept)) continue;
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", base, one->d_name);
        int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder < 0) continue;
        if (!flock(folder, LOCK_EX | LOCK_NB)) remove_tree(path);
        close(folder);
    }
    closedir(all);
}

/* Hold the folder for as long as this program lives, and say whether it is whole; its descriptor outlives exec. */
static int held(const char *path) {
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (folder < 0) return 0;
    flock(folder, LOCK_SH | LOCK_NB);
    if (whole(folder)) return 1;
    close(folder);
    return 0;
}

/* Wait until no other start unpacks here; where the file system has no locks, or one lasts, each unpacks for itself. */
static int one_at_a_time(const char *base) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/lock", base);
    int lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (lock < 0) return -1;
    for (int tries = 0; tries < WAIT_S * 50 && flock(lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK; tries++) usleep(20000);
    return lock;
}

static int fresh(const char *base, const char *path, const char *name) {
    char new[PATH_MAX], old[PATH_MAX];
    snprintf(new, sizeof new, "%s/exacell-new.XXXXXX", base);
    if (!mkdtemp(new)) return no(base, strerror(errno));
    int folder = open(new, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0) flock(folder, LOCK_EX | LOCK_NB);
    if (folder < 0 || unpack(folder)) {
        no(base, strerror(errno));
        remove_tree(new);
        return -1;
    }
    if (rename(new, path) && (errno == EEXIST || errno == ENOTEMPTY) && !held(path)) {
        snprintf(old, sizeof old, "%s/exacell-old.%ld", base, (long)getpid());
        if (!rename(path, old)) rename(new, path);
        remove_tree(old);
    }
    close(folder);
    remove_tree(new); /* nothing, but where another one was faster */
    tidy(base, name);
    return held(path) ? 0 : no(base, "does not keep what is written");
}

/* Return 0 with the folder's path when exacell stands unpacked below base. */
static int settle(const char *base, char path[PATH_MAX]) {
    char own[PATH_MAX], name[64];
    if (base[0] != '/' || strlen(base) > PATH_MAX - 128) return no(base, "is no absolute path");
    strcpy(own, base);
    if (make_folders(own)) return no(base, strerror(errno));
    if (trusted(base)) return -1;
    struct statvfs system;
    if (!statvfs(base, &system) && (system.f_flag & ST_NOEXEC)) return no(base, "no program may run there (noexec)");
    snprintf(name, sizeof name, "exacell-%.16s", tail.digest);
    snprintf(path, PATH_MAX, "%s/%s", base, name);
    if (held(path)) return 0;
    int lock = one_at_a_time(base);
    int done = held(path) ? 0 : fresh(base, path, name);
    if (lock >= 0) close(lock);
    return done;
}

static const char *home(void) {
    const char *given = getenv("HOME");
    if (given && *given == '/') return given;
    struct passwd *user = getpwuid(geteuid());
    return user && user->pw_dir && *user->pw_dir == '/' ? user->pw_dir : NULL;
}

static void find_folder(char path[PATH_MAX]) {
    const char *own = getenv(OWN_FOLDER), *cache = getenv("XDG_CACHE_HOME"), *scratch = getenv("TMPDIR");
    char base[PATH_MAX];
    if (own && *own) {
        if (!settle(own, path)) return;
        die("cannot unpack its program: %s; set " OWN_FOLDER " to another folder, with %llu MB free",
            reasons, (unsigned long long)(tail.total >> 20) + 1);
    }
    if (cache && *cache == '/') snprintf(base, sizeof base, "%s/exacell/program", cache);
    else if (home()) snprintf(base, sizeof base, "%s/.cache/exacell/program", home());
    else *base = 0;
    if (*base && !settle(base, path)) return;
    const char *places[] = {"/var/tmp", scratch && *scratch == '/' ? scratch : "/tmp", "/tmp", "/dev/shm"};
    for (size_t each = 0; each < sizeof places / sizeof *places; each++) {
        if (each == 2 && !strcmp(places[1], places[2])) continue;
        struct stat is;
        if (stat(places[each], &is)) continue; /* these are made by the system, not by us */
        snprintf(base, sizeof base, "%s/exacell-program-%ld", places[each], (long)geteuid());
        if (!settle(base, path)) return;
    }
    die("cannot unpack its program: %s; set " OWN_FOLDER " to a folder of yours where programs may run, with %llu MB free",
        *reasons ? reasons : "no folder to write to", (unsigned long long)(tail.total >> 20) + 1);
}

/* Return the folder that this program, as bin/python, stands in. */
static void own_folder(char path[PATH_MAX]) {
    ssize_t size = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (size > 0) path[size] = 0;
    else if (!realpath((const char *)getauxval(AT_EXECFN), path)) die("cannot find its own folder: is /proc mounted?");
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(path, '/');
        if (slash) *slash = 0;
    }
}

static void start(const char *folder, char **words, int count, char **options) {
    static char loader[PATH_MAX], libraries[PATH_MAX], shown[PATH_MAX], program[PATH_MAX];
    snprintf(loader, sizeof loader, "%s/lib/ld.so", folder);
    snprintf(libraries, sizeof libraries, "%s/lib", folder);
    snprintf(shown, sizeof shown, "%s/bin/python", folder);
    snprintf(program, sizeof program, "%s/bin/python3", folder);
    char **all = calloc(count + 32, sizeof *all), **at = all;
    char *ours[] = {loader, "--inhibit-cache", "--library-path", libraries, "--argv0", shown, program, "-I", "-S", NULL};
    for (char **one = ours; *one; one++) *at++ = *one;
    for (char **one = options; *one; one++) *at++ = *one;
    for (int each = 1; each < count; each++) *at++ = words[each];
    const char *preload = getenv(PRELOAD); /* of the host, for programs of the host: start.py gives it back to children */
    if (preload) {
        setenv(KEPT_PRELOAD, preload, 1);
        unsetenv(PRELOAD);
    }
    execv(loader, all);
    die("%s does not start: %s", loader, strerror(errno));
}

int main(int count, char **words) {
    char path[PATH_MAX];
    self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (self < 0) self = open((const char *)getauxval(AT_EXECFN), O_RDONLY | O_CLOEXEC);
    struct stat is;
    if (self < 0 || fstat(self, &is) || pread(self, &tail, sizeof tail, is.st_size - sizeof tail) != sizeof tail)
        die("cannot read itself: %s", strerror(errno));
    if (memcmp(tail.magic, MAGIC, sizeof tail.magic)) {
        own_folder(path);
        start(path, words, count, (char *[]){NULL});
    }
    if (tail.index + tail.index_size + sizeof tail != (uint64_t)is.st_size) die("this file is damaged: compare it with SHA256SUMS");
    lines = calloc(tail.index_size + 1, 1);
    if (pread(self, lines, tail.index_size, tail.index) != (ssize_t)tail.index_size) die("cannot read itself: %s", strerror(errno));
    mode_t mask = umask(022);
    find_folder(path);
    umask(mask);
    start(path, words, count, (char *[]){"-m", "exacell_start", NULL});
}
