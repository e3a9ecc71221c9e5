# Writes the fixtures beside it: what R computes of small sets. Run: Rscript tests/data/r/make.R FOLDER
# The tests read what it wrote once; make test-real runs it again where R is.
folder <- commandArgs(trailingOnly = TRUE)[1]
number <- function(x) formatC(x, digits = 17, format = "g")
put <- function(set, what, value) cat(paste(set, what, number(value), sep = "\t"), "\n", sep = "", file = out, append = TRUE)
text <- function(set, what, value) cat(paste(set, what, value, sep = "\t"), "\n", sep = "", file = out, append = TRUE)
out <- file.path(folder, "expected.tsv")
unlink(out)
text("-", "R", R.version.string)

set.seed(20221124)
sets <- list(
  waits   = list(round(rgamma(400, shape = 8, scale = 65)) + 40, round(rgamma(350, shape = 8, scale = 61)) + 40),
  ties    = list(sample(1:9, 60, replace = TRUE), sample(2:8, 45, replace = TRUE)),
  few     = list(c(512, 498, 530), c(471, 455, 490, 466)),
  tail    = list(c(round(rexp(200, 1/500)), 612345, 730001), round(rexp(220, 1/480))),
  apart   = list(1:50, 1001:1060),
  equal   = list(c(5, 7, 7, 9), c(5, 7, 7, 9))
)
values <- file.path(folder, "sets.tsv")
unlink(values)
for (name in names(sets)) {
  x <- sets[[name]][[1]]; y <- sets[[name]][[2]]
  cat(paste(name, "x", paste(x, collapse = ","), sep = "\t"), "\n", sep = "", file = values, append = TRUE)
  cat(paste(name, "y", paste(y, collapse = ","), sep = "\t"), "\n", sep = "", file = values, append = TRUE)
  for (side in c("x", "y")) {
    v <- if (side == "x") x else y
    for (p in c(0, .1, .25, .5, .75, .9, .95, .99, .999, 1)) put(name, paste0(side, ".q", p), quantile(v, p, names = FALSE))
    put(name, paste0(side, ".mean"), mean(v))
    put(name, paste0(side, ".var"), var(v))
    # Without the sign that R adds to keep columns apart.
    printed <- capture.output(print(summary(v)))
    text(name, paste0(side, ".summary"), gsub(" +", " ", trimws(printed[2])))
    for (above in c(1, 5, 100, 1000)) put(name, paste0(side, ".above", above), sum(v > mean(v) + above))
  }
  t <- t.test(x, y, paired = FALSE)
  put(name, "welch.t", t$statistic); put(name, "welch.df", t$parameter); put(name, "welch.p", t$p.value)
  put(name, "welch.low", t$conf.int[1]); put(name, "welch.high", t$conf.int[2])
  w <- suppressWarnings(wilcox.test(x, y, exact = FALSE, correct = TRUE))
  put(name, "mw.w", w$statistic); put(name, "mw.p", w$p.value)
  put(name, "hl", median(outer(x, y, "-")))
  pooled <- sqrt(((length(x) - 1) * var(x) + (length(y) - 1) * var(y)) / (length(x) + length(y) - 2))
  put(name, "d", (mean(x) - mean(y)) / pooled)
}
for (a in list(c(2.5, 3.3), c(1.96, 1e7), c(263.2139, 7977922), c(5, 30), c(.1, 2), c(40, 9), c(12, 1.2), c(300, 50), c(1e-9, 7)))
  put("log10p", paste(number(a[1]), number(a[2])), (log(2) + pt(-a[1], a[2], log.p = TRUE)) / log(10))
for (df in c(1, 1.7, 2, 5.5, 30, 1000, 99999)) put("t95", number(df), qt(.975, df))
for (z in c(0.1, 1.96, 5, 29.9, 30.1, 38, 60, 500)) put("log10z", number(z), (log(2) + pnorm(-z, log.p = TRUE)) / log(10))
for (n in list(c(15, 50), c(0, 10), c(10, 10), c(3, 3), c(19190, 551342))) {
  p <- suppressWarnings(prop.test(n[1], n[2], correct = FALSE))$conf.int
  put("wilson", paste(n[1], n[2], "low"), p[1]); put("wilson", paste(n[1], n[2], "high"), p[2])
}

# The difference up to which a permutation test does not refuse it, on one side of the mean, by halving.
edge <- function(d, signs, alpha, side) {
  inside <- mean(d); outside <- mean(d) + side * 10 * (max(d) - min(d))
  for (step in 1:100) {
    middle <- (inside + outside) / 2
    p <- mean(abs(signs %*% (d - middle)) >= abs(sum(d - middle)) * (1 - 1e-12))
    if (p > alpha) inside <- middle else outside <- middle
  }
  inside
}
ends <- function(d, signs, alpha) c(edge(d, signs, alpha, -1), edge(d, signs, alpha, 1))

# Experiments: differences of blocks as logarithms, on by off; a trend and a carry-over are what judges look for besides.
set.seed(20261127)
for (n in c(6, 7, 12, 14)) {
  name <- paste0("blocks", n)
  first <- sample(c(TRUE, FALSE), n, replace = TRUE); first[1:2] <- TRUE; first[3:4] <- FALSE
  off <- exp(rnorm(n, log(500), 0.02) + (1:n) * 0.01)
  on <- off * exp(rnorm(n, 0.03, 0.02) + ifelse(first, if (n == 12) 0.05 else 0.01, 0))
  d <- log(on / off)
  text(name, "on", paste(number(on), collapse = ",")); text(name, "off", paste(number(off), collapse = ","))
  text(name, "first", paste(as.integer(first), collapse = ","))
  # A coin a block, and in order abba one for each two blocks.
  signs <- as.matrix(expand.grid(rep(list(c(1, -1)), n)))
  wide <- ends(d, signs, .05)
  put(name, "effect", 100 * (exp(mean(d)) - 1)); put(name, "spread", 100 * (exp(sd(d)) - 1))
  put(name, "low", 100 * (exp(wide[1]) - 1)); put(name, "high", 100 * (exp(wide[2]) - 1))
  # Two one-sided tests at 5 %: the smallest limit within which the 90 % interval lies.
  put(name, "within", 100 * (exp(max(abs(ends(d, signs, .10)))) - 1))
  put(name, "flip", mean(abs(signs %*% d) >= abs(sum(d)) * (1 - 1e-12)))
  if (n >= 12) {
    twos <- as.matrix(expand.grid(rep(list(c(1, -1)), n / 2)))[, rep(1:(n / 2), each = 2)]
    wide <- ends(d, twos, .05)
    put(name, "abba.low", 100 * (exp(wide[1]) - 1)); put(name, "abba.high", 100 * (exp(wide[2]) - 1))
    put(name, "abba.flip", mean(abs(twos %*% d) >= abs(sum(d)) * (1 - 1e-12)))
  }
  levels <- (log(on) + log(off)) / 2
  put(name, "trend", summary(lm(levels ~ seq_len(n)))$coefficients[2, 4])
  put(name, "carry", t.test(d[!first], d[first], var.equal = TRUE)$p.value)
  put(name, "power", power.t.test(n = n, sd = 1, power = .8, type = "paired")$delta)
  reached <- floor(.05 * 2^(n - 1)) / 2^(n - 1)
  put(name, "reached", power.t.test(n = n, sd = 1, power = .8, sig.level = reached, type = "paired")$delta)
}
put("-", "f99", qf(.99, 5, 3))
