import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "../config/config.ts";
import { optionsOf, usageOf } from "./command.ts";
import { commandHelp, generalHelp } from "./help.ts";
import { commands } from "./run.ts";

/** What the service manager tells its service: nobody sets them (sd_notify(3)). */
const OF_THE_SERVICE_MANAGER = ["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"];

/** Every name that the configuration is read from. */
function settingNames(): string[] {
  const names = new Set<string>();
  const env = new Proxy<Record<string, string | undefined>>(
    {},
    {
      get: (_target, name) => {
        names.add(String(name));
        return undefined;
      },
    },
  );
  readConfig(env);
  return [...names].filter((name) => !OF_THE_SERVICE_MANAGER.includes(name));
}

test("lists every command and every environment variable", () => {
  const help = generalHelp(commands);
  for (const { name, summary } of commands) assert.match(help, new RegExp(`^  ${name} +\\S`, "m"), summary);
  assert.ok(settingNames().length >= 10);
  for (const name of settingNames()) assert.match(help, new RegExp(`^  ${name} +\\S`, "m"));
});

test("begins the help of a topic with the usage of its commands", () => {
  const lines = generalHelp(commands, "org").split("\n");
  assert.equal(lines[0], "Organisations");
  assert.ok(lines[1]?.startsWith("  signet org create --name NAME"));
  assert.ok(lines.findIndex((line) => line.includes("org disable")) < lines.indexOf("Other commands"));
});

test("explains every option of a command, with examples of that command", () => {
  for (const command of commands) {
    const help = commandHelp(command);
    assert.ok(help.includes(`Usage: signet ${command.name} ${usageOf(command)}`));
    for (const [name, option] of Object.entries(optionsOf(command))) {
      assert.match(help, new RegExp(`^  --${name}( [A-Z]+)? +\\S`, "m"));
      assert.ok(option.help.length > 3, `${command.name} --${name}`);
      if (option.required) assert.ok(usageOf(command).includes(`--${name}`), `${command.name} --${name}`);
    }
    for (const example of command.examples ?? [])
      assert.ok(example.includes(`signet ${command.name}`), example);
  }
});

test("offers --json on every command that prints a result", () => {
  // The first two do not answer, the other is asked for its format.
  const without = ["start", "dev", "audit export"];
  for (const command of commands)
    assert.equal("json" in optionsOf(command), !without.includes(command.name), command.name);
});
