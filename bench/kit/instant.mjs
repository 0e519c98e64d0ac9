// Owns: an instant that processes of one machine can compare, finer than a millisecond.

export const instant = () => performance.timeOrigin + performance.now();
