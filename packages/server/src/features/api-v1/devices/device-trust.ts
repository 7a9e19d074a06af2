/** Which TPMs an organisation trusts, as API v1 shows it: vendors by their root certificates, and single endorsement keys. */
import Type from "typebox";
import type { Act } from "../../../core/audit/audit.store.ts";
import type { CoreDeps } from "../../../core/core-deps.ts";
import { invalid } from "../../../http/api/api-error.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import type { AllowedEk, DeviceRoot } from "./trust-lists.store.ts";

interface Added {
  /** SHA-256, base64url. */
  readonly id: string;
  readonly isKnown: boolean;
}

/** What device identity does with what is trusted. */
export interface DeviceTrust {
  addRoot(deps: CoreDeps, by: Act, certificate: string): Promise<Added>;
  addEk(deps: CoreDeps, by: Act, ek: { readonly key: string; readonly label: string }): Promise<Added>;
  removeRoot(deps: CoreDeps, by: Act, id: string): Promise<boolean>;
  removeEk(deps: CoreDeps, by: Act, id: string): Promise<boolean>;
  /** What is wrong with a certificate or key; undefined for any other error. */
  faultOf(error: unknown): string | undefined;
}

export interface TrustDeps extends ApiDeps {
  readonly trust: DeviceTrust;
}

/** @param path of the member that has the certificate or key. @throws ApiError 422 */
export const toTrustAnswer =
  ({ trust }: TrustDeps, path: string) =>
  (error: unknown): never => {
    const message = trust.faultOf(error);
    throw message === undefined ? error : invalid([{ path, message }]);
  };

const time = () => Type.String({ format: "date-time" });
const shared = {
  createdBy: Type.String({ description: "As the audit log names actors" }),
  ...{ createdAt: time(), updatedAt: time() },
};

export const rootSchema = Type.Object(
  {
    id: Type.String({ description: "SHA-256 of the certificate, base64url" }),
    subject: Type.String(),
    notAfter: time(),
    certificate: Type.String({ description: "PEM" }),
    ...shared,
  },
  { title: "ApiDeviceRoot" },
);

export const newRoot = strictObject(
  { certificate: Type.String({ description: "PEM, one certificate of a TPM vendor's authority" }) },
  { title: "ApiNewDeviceRoot" },
);

export const rootRecord = ({ fingerprint, ...root }: DeviceRoot) => ({
  ...{ id: fingerprint, subject: root.subject, notAfter: wireTime(root.notAfter) },
  ...{ certificate: root.certificate, createdBy: root.createdBy },
  ...{ createdAt: wireTime(root.createdAt), updatedAt: wireTime(root.createdAt) },
});

export const ekSchema = Type.Object(
  {
    id: Type.String({ description: "SHA-256 of the key's SPKI, base64url" }),
    label: Type.String(),
    ...shared,
  },
  { title: "ApiAllowedEk" },
);

export const newEk = strictObject(
  {
    key: Type.String({ description: "PEM: one EK certificate, or one public key" }),
    label: Type.Optional(Type.String({ maxLength: 200, description: "Default: none" })),
  },
  { title: "ApiNewAllowedEk" },
);

export const ekRecord = ({ ekHash, label, createdBy, createdAt }: AllowedEk) => ({
  ...{ id: ekHash, label, createdBy },
  ...{ createdAt: wireTime(createdAt), updatedAt: wireTime(createdAt) },
});
