/** Settings of commands that call a server (`--server`): they need neither its database nor its master key. */
import { homedir } from "node:os";
import { join } from "node:path";
import { type Env, text } from "./config-values.ts";

export const clientSettingNames = ["SIGNET_SERVER", "SIGNET_TOKEN", "SIGNET_TOKEN_FILE"] as const;

export interface ClientSettings {
  readonly server: string | undefined;
  readonly token: string | undefined;
  readonly tokenFile: string | undefined;
  /** Where `signet login` keeps its tokens (XDG Base Directory Specification). */
  readonly folder: string;
}

export const readClientSettings = (env: Env): ClientSettings => ({
  server: text(env, "SIGNET_SERVER"),
  token: text(env, "SIGNET_TOKEN"),
  tokenFile: text(env, "SIGNET_TOKEN_FILE"),
  folder: join(text(env, "XDG_CONFIG_HOME") ?? join(homedir(), ".config"), "signet"),
});
