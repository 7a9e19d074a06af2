/** The images of an organisation's sign-in page, as its settings name them. */

export const imageKinds = ["logo", "darkLogo", "favicon", "panel"] as const;
export type ImageKind = (typeof imageKinds)[number];

export interface ImageRef {
  /** SHA-256 of the content, base64url. */
  readonly digest: string;
  readonly width: number;
  readonly height: number;
}

/** Where the service serves it. */
export const imagePath = (orgId: string, { digest }: Pick<ImageRef, "digest">): string =>
  `/oauth/${orgId}/images/${digest}`;
