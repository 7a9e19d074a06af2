/** A protected resource as form fields: read, displayed, and the rules' faults by field. */
import {
  accessTokenFormats,
  InvalidResource,
  ResourceConflict,
  type ResourceFaultCode,
  type ResourceSettings,
  senderConstraints,
} from "../../../core/protected-resources/protected-resource.ts";
import type { DurationText } from "../../../html/components/duration-input.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { SentForm } from "../../../page-kit/accept-form.ts";
import { readDurationText, toSeconds } from "../../../page-kit/read-fields.ts";
import { displayLifetime, yesOrNo } from "../plain-records/fields.ts";

export interface ResourceInput {
  readonly name: string;
  readonly identifier: string;
  readonly enabled: boolean;
  readonly scopes: readonly string[];
  readonly accessTokenFormat: string;
  readonly accessTokenLifetimeSeconds: DurationText;
  /** Empty: the application's. */
  readonly accessTokenSignedResponseAlg: string;
  readonly senderConstraint: string;
  /** Empty: none. */
  readonly applicationId: string;
  readonly agentDeniedScopes: readonly string[];
}

export interface WantedResource {
  readonly settings: ResourceSettings;
  readonly scopes: readonly string[];
}

export const displayResource = (input: ResourceInput, messages: Messages) => ({
  ...{ name: input.name, identifier: input.identifier, enabled: yesOrNo(input.enabled, messages) },
  ...{ scopes: input.scopes.join(" "), agentDeniedScopes: input.agentDeniedScopes.join(" ") },
  accessTokenFormat: choiceText(messages.console.resources.formats, input.accessTokenFormat),
  accessTokenLifetimeSeconds: displayLifetime(input.accessTokenLifetimeSeconds, messages),
  accessTokenSignedResponseAlg: input.accessTokenSignedResponseAlg,
  senderConstraint: choiceText(messages.console.resources.constraints, input.senderConstraint),
  applicationId: input.applicationId,
});

export function resourceLabels({ console: { resources, plainRecords } }: Messages) {
  const { fields } = resources;
  return {
    ...{ name: plainRecords.name, enabled: plainRecords.enabled.label, identifier: fields.identifier.label },
    ...{ scopes: fields.scopes.label, agentDeniedScopes: fields.agentDeniedScopes.label },
    ...{ accessTokenFormat: fields.accessTokenFormat.label, senderConstraint: fields.senderConstraint.label },
    accessTokenLifetimeSeconds: fields.accessTokenLifetimeSeconds.label,
    accessTokenSignedResponseAlg: fields.accessTokenSignedResponseAlg.label,
    applicationId: fields.applicationId.label,
  };
}

const choiceText = (texts: Readonly<Record<string, string>>, value: string): string => texts[value] ?? value;

export function readResourceInput({ values, all, ...form }: SentForm): ResourceInput {
  const text = (id: string, max = 2_100) => (values.get(id) ?? "").trim().slice(0, max);
  return {
    ...{ name: text("name", 200), identifier: text("identifier"), enabled: values.get("enabled") === "on" },
    ...{ scopes: all("scopes"), agentDeniedScopes: all("agentDeniedScopes") },
    accessTokenFormat: text("accessTokenFormat", 20),
    accessTokenLifetimeSeconds: readDurationText({ ...form, values }, "accessTokenLifetimeSeconds"),
    accessTokenSignedResponseAlg: text("accessTokenSignedResponseAlg", 20),
    ...{ senderConstraint: text("senderConstraint", 20), applicationId: text("applicationId", 40) },
  };
}

/** What is none of the choices stays as it came, and the rules refuse it. */
export function toWanted(input: ResourceInput): WantedResource {
  const { accessTokenLifetimeSeconds: lifetime, accessTokenSignedResponseAlg: alg } = input;
  const known = <Choice extends string>(choices: readonly Choice[], value: string): Choice =>
    choices.find((choice) => choice === value) ?? (value as Choice);
  return {
    scopes: input.scopes,
    settings: {
      ...{ name: input.name, identifier: input.identifier, enabled: input.enabled },
      accessTokenFormat: known(accessTokenFormats, input.accessTokenFormat),
      // No number is no lifetime, and none of the range.
      accessTokenLifetimeSeconds: lifetime.amount === "" ? null : (toSeconds(lifetime) ?? 0),
      accessTokenAlg: alg === "" ? null : (alg as ResourceSettings["accessTokenAlg"]),
      senderConstraint: known(senderConstraints, input.senderConstraint),
      applicationId: input.applicationId === "" ? null : input.applicationId.toLowerCase(),
      agentDeniedScopes: input.agentDeniedScopes,
    },
  };
}

const fieldOf: Readonly<Partial<Record<ResourceFaultCode, string>>> = { "too-many": "name" };

export function resourceFaults(error: unknown, { console }: Messages): Record<string, string> {
  const { faults: texts } = console.resources;
  if (error instanceof ResourceConflict) return { identifier: texts["identifier-taken"] };
  if (!(error instanceof InvalidResource)) throw error;
  return Object.fromEntries(
    error.faults
      .toReversed()
      .map(({ path, code }) => [fieldOf[code] ?? path.split("[")[0] ?? path, texts[code]]),
  );
}
