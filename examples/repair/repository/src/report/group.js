/** Sums of cents by category, the largest first; equal ones by name. */
export function byCategory(entries) {
  const sums = new Map();
  for (const { category, cents } of entries) sums.set(category, (sums.get(category) ?? 0) + cents);
  return [...sums]
    .map(([category, cents]) => ({ category, cents }))
    .sort((a, b) => b.cents - a.cents || a.category.localeCompare(b.category));
}

/** The categories of a ledger, by name. */
export function categoriesOf(entries) {
  return [...new Set(entries.map(({ category }) => category))].sort();
}
