/** `signet-device token` */
import { flag, repeatedTexts, requiredText, textOption, type Values } from "@signet/cli-runtime/command";
import { exitCodes } from "../exit-codes.ts";
import { exitIfRevoked, queryStatus } from "../renewal/certificate-status.ts";
import { mtlsEndpoints, ServiceRefusal } from "../service/device-service.ts";
import { identityOf, readEnrolledDevice } from "../state/enrolled-device.ts";
import { commonOptions, type DeviceCommand, hookOption, openService, readSettings } from "./settings.ts";

export const tokenCommand: DeviceCommand = {
  name: "token",
  summary: "get an access token bound to the device's certificate",
  usage: "--client-id ID [--scope SCOPE …] [--resource URI …] [--only-token]",
  options: {
    "client-id": textOption("ID", "the application the device acts for", { required: true }),
    scope: textOption("SCOPE", "may be repeated (default: every allowed scope)", { multiple: true }),
    resource: textOption("URI", "resource indicator (RFC 8707); may be repeated", { multiple: true }),
    "only-token": flag("print only the access token"),
    ...hookOption,
    ...commonOptions,
  },
  run: async ({ values, io }) => {
    const settings = await readSettings(values, io);
    const device = await readEnrolledDevice(settings.state);
    const service = await openService(device.record, settings, io);
    const { token: url } = await mtlsEndpoints(service, device.record);
    const identity = await identityOf(device);
    const answer = await service.token(url, identity, buildForm(values)).catch(async (error: unknown) => {
      // The token endpoint only says `invalid_client`: the CA knows whether the device is revoked.
      if (error instanceof ServiceRefusal && error.status === 401) {
        const status = await queryStatus(device, service, io.clock()).catch(() => undefined);
        const report = (line: string) => io.printError(line);
        await exitIfRevoked(status, device, { hook: settings["on-revoked"], report }, error);
      }
      throw error;
    });
    const onlyToken = values["only-token"] === true;
    io.print(onlyToken ? String(answer["access_token"]) : JSON.stringify(answer, null, 2));
    return exitCodes.done;
  },
};

function buildForm(values: Values): URLSearchParams {
  const clientId = requiredText(values, "client-id");
  const form = new URLSearchParams({ grant_type: "client_credentials", client_id: clientId });
  const scope = repeatedTexts(values, "scope").join(" ").trim();
  if (scope !== "") form.set("scope", scope);
  for (const resource of repeatedTexts(values, "resource")) form.append("resource", resource);
  return form;
}
