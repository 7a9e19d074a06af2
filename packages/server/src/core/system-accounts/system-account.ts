/** A system account: a program that calls the JSON APIs (specification, "System account"). */

export interface SystemAccount {
  readonly orgId: string;
  readonly id: string;
  /** The application that it belongs to, and may always act for. */
  readonly applicationId: string;
  readonly name: string;
  /** May use the management API of its organisation. */
  readonly isAdministrator: boolean;
  /** Only calls in the strict form are accepted. */
  readonly requiresStrictSignature: boolean;
  /** Other applications that it may act for. */
  readonly permissions: readonly string[];
  readonly createdAt: number;
  readonly createdBy: string;
  readonly updatedAt: number;
  readonly disabledAt: number | null;
  readonly lastUsedAt: number | null;
  readonly version: number;
}

/** A key pair without its secret, which is read for verification only. */
export interface SystemAccountKey {
  /** A UUID. */
  readonly publicKey: string;
  readonly label: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}

export const isKeyActive = (key: Pick<SystemAccountKey, "expiresAt" | "revokedAt">, now: number): boolean =>
  key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);

export const mayActFor = (account: SystemAccount, applicationId: string): boolean =>
  account.applicationId === applicationId || account.permissions.includes(applicationId);
