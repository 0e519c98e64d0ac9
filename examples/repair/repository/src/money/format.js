/** 123456 cents as `1,234.56 EUR`. */
export function formatAmount(cents, currency) {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ',');
  return `${cents < 0 ? '-' : ''}${whole}.${digits.slice(-2)} ${currency}`;
}
