/* A cell's command line tool for benchmarks: answers at once, or after a pause as a Java start makes one.
 *
 *   cellcli [-n] [-x] [-m] -e list metriccurrent    300 rows as a cell prints them
 *   cellcli -e bulk 10                               10 MB of such rows
 *   cellcli [-xml] -e list metrichistory             $FAKECELL_DIR/history.txt, or history.xml
 *   cellcli -n -x [-m]                               statements from standard input, one a line, until it ends
 *
 * $FAKECELL_DIR/start_ms: milliseconds that each start takes; no such file: none.
 * Build: cc -O2 -o cellcli fakecell.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { ROWS = 300, LINE = 4096 };

static int number; /* of this cell: no two cells answer alike */
static int xml;    /* whether it is asked for XML */

static int row(int i) {
    static const char *metric[] = {"CD_IO_RQ_R_SM_SEC", "FC_IO_BY_R_SEC", "GD_IO_RQ_W_LG_SEC", "FL_IO_W"};
    return printf("\t %-24s\t CD_%02d_cell%03d\t %d IO/sec\n", metric[i % 4], i % 12, number, (i * 7919) % 100003);
}

static void print(const char *name) {
    char path[LINE];
    const char *directory = getenv("FAKECELL_DIR");
    if (!directory || snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path) return;
    FILE *file = fopen(path, "r");
    static char piece[1 << 18];
    size_t size;
    while (file && (size = fread(piece, 1, sizeof piece, file)) > 0) fwrite(piece, 1, size, stdout);
    if (file) fclose(file);
}

static void answer(const char *statement) {
    char name[LINE];
    long megabytes;
    if (sscanf(statement, " bulk %ld", &megabytes) == 1) {
        long left = megabytes * 1000000;
        for (int i = 0; left > 0; i++) left -= row(i);
    } else if (sscanf(statement, " start %4095s", name) == 1) {
        printf("CELL-02921: Unable to read file %s.\n", name);
    } else if (sscanf(statement, " list celldisk %4095s", name) == 1) {
        printf("CELL-02906: Cell disk does not exist: %s\n", name);
    } else if (!strncasecmp(statement, "list cell ", 10)) {
        printf("\t cell01\t 19.3.2.0.0.191119\n");
    } else if (!strncasecmp(statement, "list metrichistory", 18)) {
        print(xml ? "history.xml" : "history.txt");
    } else if (!strncasecmp(statement, "list ", 5)) {
        for (int i = 0; i < ROWS; i++) row(i);
    } else if (*statement) {
        printf("CELL-01504: Invalid command syntax.\n");
    }
}

static void start(void) {
    char path[LINE];
    const char *directory = getenv("FAKECELL_DIR");
    if (!directory || snprintf(path, sizeof path, "%s/start_ms", directory) >= (int)sizeof path) return;
    FILE *file = fopen(path, "r");
    long ms = 0;
    if (file && fscanf(file, "%ld", &ms) == 1 && ms > 0) {
        struct timespec pause = {ms / 1000, (ms % 1000) * 1000000};
        nanosleep(&pause, NULL);
    }
    if (file) fclose(file);
}

int main(int argc, char **argv) {
    static char buffer[1 << 16];
    char line[LINE] = "";
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    const char *connection = getenv("SSH_CONNECTION"); /* client port server port */
    if (connection) sscanf(connection, "%*s %*s 127.0.%*d.%d", &number);
    start();
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-xml") || !strcmp(argv[i], "--xml")) xml = 1;
        if (strcmp(argv[i], "-e")) continue;
        for (i++; i < argc; i++) {
            strncat(line, argv[i], sizeof line - strlen(line) - 1);
            strncat(line, i + 1 < argc ? " " : "", sizeof line - strlen(line) - 1);
        }
        answer(line);
        return fflush(stdout) ? 1 : 0;
    }
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\r\n")] = 0;
        answer(line);
        fflush(stdout);
    }
    return 0;
}
