/** `plural(1, 'entry', 'entries')`. */
export const plural = (count, one, many) => (count === 1 ? one : many);
