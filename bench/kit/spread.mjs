// Owns: how many figures become one. Medians, because the machine is shared and its worst moments say nothing.

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The value below which `share` of them lie. */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/** What is written beside a figure: the median, the middle half, the undisturbed ones, and how many there were. */
export function spread(values) {
  return {
    median: rounded(median(values)),
    best: rounded(quantile(values, 0.05)),
    from: rounded(quantile(values, 0.25)),
    to: rounded(quantile(values, 0.75)),
    count: values.length,
  };
}

/** Three digits, whatever the size. */
export function rounded(value) {
  return Number(value.toPrecision(3));
}
