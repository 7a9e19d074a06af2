/** deploy/Dockerfile: built from the packages, run read-only and without root, and signed in to. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chown, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { missingProgram } from "../../e2e/support/programs.ts";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import {
  authorizationRequest,
  authorize,
  testBrowser,
} from "../../packages/server/src/testing/fakes/browser.ts";
import { postForm } from "../../packages/server/src/testing/fixtures/client.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { build } from "../../scripts/build.ts";
import { repositoryRoot } from "../../scripts/source-files.ts";
import {
  type Buildah,
  buildah,
  type Container,
  type ContainerOptions,
  makeBase,
  missingDebian,
  startContainer,
  USER,
} from "./container.ts";

const missing =
  process.getuid?.() === 0
    ? missingProgram("buildah", ["--version"]) || missingProgram("unshare", ["--version"]) || missingDebian()
    : "building and running images needs root";

interface Image {
  readonly size: number;
  readonly config: {
    readonly User: string;
    readonly Entrypoint: string[];
    readonly Cmd: string[];
    readonly Env: string[];
    readonly Healthcheck?: { readonly Test: string[] };
  };
  readonly root: string;
}

describe("the images", { skip: missing }, () => {
  let folder: string;
  let work: Buildah;
  const running: Container[] = [];

  before(async () => {
    // Not in memory: several copies of Debian and Node.
    folder = await mkdtemp("/var/tmp/signet-image-");
    work = buildah(folder);
    const [built] = await Promise.all([
      build({ checksTypes: false, into: path.join(folder, "built") }),
      makeBase(work, "base"),
    ]);
    for (const name of ["server", "signing-agent"]) {
      const place = path.join(folder, "context", "packages", name);
      await mkdir(place, { recursive: true });
      await rename(built.get(`@signet/${name}`) ?? "", path.join(place, "dist"));
    }
    await writeFile(path.join(folder, "npmrc"), await npmSettings());
  });
  after(async () => {
    for (const container of running) container.kill();
    await work("rm", "--all");
    await rm(folder, { recursive: true, force: true });
  });

  async function imageOf(target: string): Promise<Image> {
    const file = path.join(repositoryRoot, "deploy", "Dockerfile");
    const secret = ["--secret", `id=npmrc,src=${path.join(folder, "npmrc")}`];
    const options = ["--format", "docker", "--build-arg", "BASE=localhost/base", ...secret];
    await work("bud", ...options, "--target", target, "-f", file, "-t", target, path.join(folder, "context"));
    const { Docker: described } = JSON.parse(await work("inspect", "--type", "image", target)) as {
      Docker: { config: Image["config"] };
    };
    const container = await work("from", target);
    const root = await work("mount", container);
    const { stdout } = await promisify(execFile)("du", ["-s", "--block-size=1", "--apparent-size", root]);
    return { config: described.config, root, size: Number(stdout.split("\t")[0]) };
  }

  const start = (image: Image, options: Pick<ContainerOptions, "volumes" | "env" | "command">): Container => {
    const own = Object.fromEntries(
      image.config.Env.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
    );
    const container = startContainer({
      root: image.root,
      volumes: options.volumes,
      env: { ...own, ...options.env },
      command: [...image.config.Entrypoint, ...options.command],
    });
    running.push(container);
    return container;
  };

  async function volume(name: string): Promise<string> {
    const place = path.join(folder, name);
    await mkdir(place, { mode: 0o700 });
    await chown(place, USER, USER);
    return place;
  }

  test("the server's is small, has no shell, and signs a person in read-only and without root", async () => {
    const image = await imageOf("server");
    assert.ok(image.size <= 200_000_000, `${image.size} bytes`);
    assert.equal(image.config.User, `${USER}:${USER}`);
    assert.deepEqual(await programsOf(image), ["node", "signet"]);
    const data = await volume("data");
    const port = await freePort();
    const env = { PORT: String(port), HOST: "0.0.0.0", SIGNET_DRAIN_SECONDS: "0" };
    const server = start(image, { volumes: { "/var/lib/signet": data }, env, command: ["start", "--demo"] });
    let code: number | null | undefined;
    void server.ended.then((ended) => {
      code = ended;
    });
    const isReady = async () => {
      assert.equal(code, undefined, server.output());
      const answer = await fetch(`http://localhost:${port}/readyz`).catch(() => undefined);
      await answer?.body?.cancel();
      return answer?.status === 200;
    };
    await eventually("it serves", isReady, 60_000);

    const demo = JSON.parse(await readFile(path.join(data, "demo.json"), "utf8")) as DemoFile;
    const [redirectUri = ""] = demo.webApp.redirectUris;
    const { query, verifier } = authorizationRequest(demo.webApp.clientId, redirectUri);
    const answer = await authorize(testBrowser(), { issuer: demo.issuer, query, ...demo.user });
    const { status, body } = await postForm(`${demo.issuer}/token`, {
      grant_type: "authorization_code",
      code: String(answer.get("code")),
      code_verifier: verifier,
      redirect_uri: redirectUri,
      client_id: demo.webApp.clientId,
      client_secret: demo.webApp.clientSecret,
    });
    assert.equal(status, 200, JSON.stringify(body));
    assert.ok(body["id_token"]);

    const [kind, ...check] = image.config.Healthcheck?.Test ?? [];
    assert.equal(kind, "CMD");
    assert.equal(await server.exec(check), 0, "healthy");
    const write = 'require("node:fs").writeFileSync(process.argv[1], "x")';
    const writes = (file: string) => server.exec(["/usr/local/bin/node", "-e", write, file]);
    assert.deepEqual(
      [await writes("/etc/x"), await writes("/var/lib/signet/x")],
      [1, 0],
      "read-only but its volume",
    );
    const elsewhere = check.map((word) => word.replace("process.env.PORT", "9"));
    assert.equal(await server.exec(elsewhere), 1, "unhealthy when nothing answers");
    assert.equal(await server.exec(["/usr/local/bin/signet", "org", "list"]), 0, "the operator's commands");
    assert.equal(await server.stop(), 0, server.output());
  });

  test("the agent's makes keys in its volume, and is unhealthy without an agent", async () => {
    const image = await imageOf("agent");
    assert.ok(image.size <= 200_000_000, `${image.size} bytes`);
    assert.equal(image.config.User, `${USER}:${USER}`);
    assert.deepEqual(await programsOf(image), ["node", "signet-agent"]);
    const volumes = { "/var/lib/signet": await volume("agent") };
    const once = async (...command: string[]) => {
      const container = start(image, { volumes, env: {}, command });
      return { code: await container.ended, words: container.output() };
    };
    assert.deepEqual((await once("keys", "create", "/var/lib/signet/key.pem")).code, 0);
    const [, ...check] = image.config.Healthcheck?.Test ?? [];
    const { code, words } = await once(...check.slice(1));
    assert.equal(code, 1, words);
    assert.match(words, /agent\.yaml/);
  });
});

/** Of the machine's npm, for the one in the build. */
async function npmSettings(): Promise<string> {
  const { stdout } = await promisify(execFile)("npm", ["config", "get", "registry"]);
  return `registry=${stdout.trim()}\ncafile=/etc/ssl/certs/ca-certificates.crt\n`;
}

/** Everything that could be started by name. */
async function programsOf({ root }: Image): Promise<string[]> {
  const folders = ["bin", "sbin", "usr/bin", "usr/sbin", "usr/local/bin", "usr/local/sbin"];
  const found = await Promise.all(folders.map((name) => readdir(path.join(root, name)).catch(() => [])));
  return found.flat().toSorted();
}
