/** What a diagnosis comes to: one edit, or why there is none. */

export type Verdict =
  | {
      readonly kind: 'edit';
      readonly path: string;
      readonly old: string;
      readonly replacement: string;
      /** The fault in a few words. */
      readonly why: string;
    }
  | { readonly kind: 'none'; readonly why: string };

export const none = (why: string): Verdict => ({ kind: 'none', why });
