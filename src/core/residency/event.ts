/** The event kinds of a session that rests: how far down the ladder it has gone. */

export type ResidencyEvent =
  /** Its memory was given up after a long rest; image and log bring everything back at the next `send`. */
  | { readonly kind: 'session.parked'; readonly since: number }
  /** After a far longer rest its images became one, and `images` older ones of `bytes` are gone, as is its index of words. */
  | {
      readonly kind: 'session.archived';
      readonly since: number;
      readonly images: number;
      readonly bytes: number;
    };
