/** A hash as people see it and other tools write it; inside it is base64url. */
export const displayHash = (base64url: string): string => Buffer.from(base64url, "base64url").toString("hex");
