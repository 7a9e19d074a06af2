/** A browser that a second factor was shown on (trusted-browsers.ts). Times are milliseconds. */
export interface RememberedDevice {
  readonly id: string;
  readonly userAgent: string;
  readonly address: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly expiresAt: number;
}
