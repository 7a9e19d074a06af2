/** `signet-device token` */
import { Ended, exitCodes } from "../exit-codes.ts";
import { type DeviceService, ServiceRefusal } from "../service/device-service.ts";
import { mtlsEndpoints } from "../service/mtls-endpoints.ts";
import { askStanding, noteRevoked, revocationText } from "../standing.ts";
import { type EnrolledDevice, identityOf, readEnrolledDevice } from "../state/enrolled-device.ts";
import { type Call, type Command, type Io, requiredText, texts, type Values } from "./command.ts";
import { openServiceOf } from "./open-service.ts";
import { commonOptions, hookOption, readSettings, trustOption } from "./settings.ts";

export const tokenCommand: Command = {
  name: "token",
  summary: "get an access token that is bound to the device's certificate",
  usage: "--client-id ID [--scope SCOPE …] [--resource URI …] [--only-token]",
  options: {
    "client-id": {
      type: "string",
      value: "ID",
      help: "the application that this device speaks for",
      required: true,
    },
    scope: {
      type: "string",
      multiple: true,
      value: "SCOPE",
      help: "as many as wanted; all that it may have when left out",
    },
    resource: { type: "string", multiple: true, value: "URI", help: "what the token is for (RFC 8707)" },
    "only-token": { type: "boolean", help: "print the token alone, in place of the whole answer" },
    ...trustOption,
    ...hookOption,
    ...commonOptions,
  },
  run: async ({ values, io }: Call) => {
    const settings = await readSettings(values, io);
    const device = await readEnrolledDevice(settings.state);
    const service = await openServiceOf(device.record, settings, io);
    const { token: url } = await mtlsEndpoints(service, device.record);
    const answer = await service
      .token(url, await identityOf(device), formOf(values))
      .catch((error: unknown) => whyRefused(error, { device, service, hook: settings["on-revoked"], io }));
    io.print(
      values["only-token"] === true ? String(answer["access_token"]) : JSON.stringify(answer, null, 2),
    );
    return exitCodes.done;
  },
};

function formOf(values: Values): URLSearchParams {
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: requiredText(values, "client-id"),
  });
  const scope = texts(values, "scope").join(" ").trim();
  if (scope !== "") form.set("scope", scope);
  for (const resource of texts(values, "resource")) form.append("resource", resource);
  return form;
}

/** The token endpoint says but `invalid_client`: the CA says whether it is because of this device. */
async function whyRefused(
  error: unknown,
  {
    device,
    service,
    hook,
    io,
  }: { device: EnrolledDevice; service: DeviceService; hook: string | undefined; io: Io },
): Promise<never> {
  if (!(error instanceof ServiceRefusal) || error.status !== 401) throw error;
  const standing = await askStanding(device, service, io.clock()).catch(() => undefined);
  if (standing?.kind !== "revoked") throw error;
  await noteRevoked(device, { revokedAt: standing.at, hook, tell: (line) => io.printError(line) });
  throw new Ended(exitCodes.revoked, revocationText(standing), { cause: error });
}
