/** deploy/helm/signet by Helm itself: linted, rendered with every switch, and faulty values refused. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { parseAllDocuments } from "yaml";
import { faultsOfNames, settingNames } from "../../packages/server/src/config/setting-names.ts";
import { repositoryRoot } from "../../scripts/source-files.ts";
import { missingGoProgram } from "../clients/go-programs.ts";
import { keptFolder } from "../kept-folder.ts";

const chart = path.join(repositoryRoot, "deploy", "helm", "signet");
const helmProgram = path.join(keptFolder("go"), "helm");

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Record<string, string> };
  readonly spec: {
    readonly template: { readonly spec: Pod };
    readonly [other: string]: unknown;
  };
}
interface Pod {
  readonly enableServiceLinks: boolean;
  readonly securityContext: Record<string, unknown>;
  readonly terminationGracePeriodSeconds: number;
  readonly topologySpreadConstraints: unknown[];
  readonly volumes: unknown[];
  readonly containers: ReadonlyArray<{
    readonly args: string[];
    readonly env: Array<{ name: string; value: string }>;
    readonly securityContext: Record<string, unknown>;
    readonly [probe: string]: unknown;
  }>;
}

type Values = Readonly<Record<string, unknown>>;
const needed: Values = {
  baseUrl: "https://id.example.com",
  secrets: { masterKey: { secret: "key" }, database: { secret: "db" } },
};
const everything: Values = {
  ...needed,
  secrets: {
    masterKey: { secret: "key" },
    masterKeyPrevious: { secret: "key", key: "previous" },
    database: { secret: "db", key: "uri" },
    databaseListen: { secret: "db", key: "direct-uri" },
    databaseReplica: { secret: "db", key: "replica-uri" },
    auditStream: { secret: "audit" },
    smtp: { secret: "mail" },
  },
  mailFrom: "Acme <id@example.com>",
  imagePullSecrets: [{ name: "registry" }],
  trustedProxies: ["10.0.0.0/8", "fd00::/8"],
  workers: 2,
  settings: { SIGNET_RATE_LIMITS: "token=600/60" },
  autoscaling: { enabled: true, minReplicas: 3, maxReplicas: 9 },
  service: { annotations: { a: "b" } },
  ingress: { enabled: true, className: "nginx", tlsSecret: "tls", annotations: { a: "b" } },
  deviceTls: { enabled: true, secret: "device-tls", baseUrl: "https://devices.example.com" },
  metrics: { enabled: true, serviceMonitor: { enabled: true, labels: { release: "prometheus" } } },
  networkPolicy: {
    enabled: true,
    from: [{ namespaceSelector: {} }],
    metricsFrom: [{ namespaceSelector: {} }],
    egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8" } }], ports: [{ port: 5432 }] }],
  },
  dataVolume: { persistentVolumeClaim: { claimName: "signet" } },
  topologySpreadConstraints: [{ maxSkew: 2, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" }],
  nodeSelector: { disk: "ssd" },
  tolerations: [{ key: "identity", operator: "Exists" }],
  affinity: { nodeAffinity: {} },
  priorityClassName: "high",
  podAnnotations: { a: "b" },
  podLabels: { team: "identity" },
  serviceAccount: { annotations: { a: "b" } },
};

describe("the Helm chart", { skip: missingGoProgram("helm") }, () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-helm-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function helm(command: readonly string[], values: Values) {
    const file = path.join(folder, "values.json");
    await writeFile(file, JSON.stringify(values));
    const options = ["--values", file, "--kube-version", "1.31.0"];
    const { status, stdout, stderr } = spawnSync(helmProgram, [...command, ...options], {
      encoding: "utf8",
      env: { HOME: folder },
    });
    return { status, words: `${stdout}${stderr}`, stdout };
  }
  async function rendered(values: Values, release = "acme"): Promise<Resource[]> {
    const { status, stdout, words } = await helm(["template", release, chart], values);
    assert.equal(status, 0, words);
    return parseAllDocuments(stdout).map((document) => {
      assert.deepEqual([document.errors, document.warnings], [[], []]);
      return document.toJS() as Resource;
    });
  }
  const kinds = (resources: readonly Resource[]) => resources.map(({ kind }) => kind).toSorted();
  const podOf = (resources: readonly Resource[], kind: string): Pod => {
    const found = resources.find((one) => one.kind === kind);
    assert.ok(found, kind);
    return found.spec.template.spec;
  };

  test("is clean by helm lint, with few values and with all", async () => {
    for (const values of [needed, everything]) {
      const { status, words } = await helm(["lint", "--strict", chart], values);
      assert.equal(status, 0, words);
    }
  });

  test("each switch adds its resources, and nothing else", async () => {
    const few = await rendered(needed);
    const usual = ["Deployment", "Job", "PodDisruptionBudget", "Service", "ServiceAccount"];
    assert.deepEqual(kinds(few), usual);
    const switches: Array<[Values, string[]]> = [
      [{ autoscaling: { enabled: true } }, ["HorizontalPodAutoscaler"]],
      [{ ingress: { enabled: true } }, ["Ingress"]],
      [{ networkPolicy: { enabled: true } }, ["NetworkPolicy"]],
      [{ metrics: { enabled: true } }, ["Service"]],
      [{ metrics: { enabled: true, serviceMonitor: { enabled: true } } }, ["Service", "ServiceMonitor"]],
      [{ deviceTls: everything["deviceTls"] }, ["Service"]],
    ];
    for (const [values, added] of switches)
      assert.deepEqual(kinds(await rendered({ ...needed, ...values })), [...usual, ...added].toSorted());
    const off = {
      podDisruptionBudget: { enabled: false },
      migrations: { enabled: false },
      serviceAccount: { name: "own" },
    };
    assert.deepEqual(kinds(await rendered({ ...needed, ...off })), ["Deployment", "Service"]);
    const names = (await rendered(everything)).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    assert.equal(new Set(names).size, names.length);
  });

  test("pods are without privileges, read-only, and have the designed probes", async () => {
    const resources = await rendered(everything);
    for (const kind of ["Deployment", "Job"]) {
      const { securityContext, containers, enableServiceLinks } = podOf(resources, kind);
      assert.equal(enableServiceLinks, false);
      assert.deepEqual([securityContext["runAsNonRoot"], securityContext["runAsUser"]], [true, 65_532]);
      assert.deepEqual(containers[0]?.securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    }
    const server = podOf(resources, "Deployment").containers[0];
    const asked = ["startupProbe", "livenessProbe", "readinessProbe"].map(
      (probe) => (server?.[probe] as { httpGet: { path: string } } | undefined)?.httpGet.path,
    );
    assert.deepEqual(asked, ["/livez", "/livez", "/readyz"]);
    const { terminationGracePeriodSeconds, topologySpreadConstraints } = podOf(
      await rendered(needed),
      "Deployment",
    );
    // Drained for 10 seconds, then at most 5 more.
    assert.ok(terminationGracePeriodSeconds >= 15);
    assert.equal(topologySpreadConstraints.length, 2);
  });

  test("its variables are settings of Signet, and secrets come as files", async () => {
    const resources = await rendered(everything);
    const server = podOf(resources, "Deployment");
    const job = podOf(resources, "Job");
    const env = server.containers[0]?.env ?? [];
    assert.deepEqual(job.containers[0]?.env, env);
    const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    assert.equal(Object.keys(variables).length, env.length, "each once");
    // Metrics are a setting from the version on that has them.
    const hasMetrics = (settingNames as readonly string[]).includes("SIGNET_METRICS_PORT");
    const own = Object.entries(variables).filter(
      ([name]) => hasMetrics || !name.startsWith("SIGNET_METRICS_"),
    );
    assert.deepEqual(faultsOfNames(Object.fromEntries(own)), []);
    const secrets = ["SIGNET_MASTER_KEY", "SIGNET_MASTER_KEY_PREVIOUS", "SIGNET_AUDIT_STREAM"];
    for (const secret of [
      ...secrets,
      "DATABASE_URL",
      "SIGNET_DATABASE_LISTEN_URL",
      "SIGNET_DATABASE_REPLICA_URL",
      "SMTP_URL",
    ]) {
      assert.equal(variables[secret], undefined);
      assert.match(variables[`${secret}_FILE`] ?? "", /^\/run\/secrets\/signet\//);
    }
    assert.deepEqual(job.containers[0]?.args, ["migrate"]);
    const hook = resources.find(({ kind }) => kind === "Job")?.metadata.annotations;
    assert.equal(hook?.["helm.sh/hook"], "pre-install,pre-upgrade");
    assert.match(JSON.stringify(server.volumes), /"claimName":"signet"/);
    assert.doesNotMatch(JSON.stringify(job.volumes), /claimName/);
  });

  test("no Service's links are taken for settings, whatever the release is called", async () => {
    for (const release of ["signet", "signet-mtls", "signet-proxy", "acme"]) {
      const services = (await rendered(everything, release)).filter(({ kind }) => kind === "Service");
      for (const { metadata } of services) {
        const link = `${metadata.name.toUpperCase().replaceAll("-", "_")}_PORT`;
        assert.ok(!(settingNames as readonly string[]).includes(link), link);
        assert.deepEqual(faultsOfNames({ [link]: "tcp://10.0.0.11:80" }), []);
      }
    }
  });

  test("values that can't work are refused by name", async () => {
    const faulty: Array<[Values, RegExp]> = [
      [{ baseUrl: "http://id.example.com" }, /baseUrl/],
      [{ baseUrl: "https://id.example.com/path" }, /baseUrl/],
      [{ secrets: { masterKey: { secret: "" }, database: { secret: "db" } } }, /masterKey/],
      [{ secrets: { masterKey: { secret: "key" }, database: { secret: "" } } }, /database/],
      [{ secrets: { masterKey: { secret: "key", value: "hunter2" }, database: { secret: "db" } } }, /value/],
      [{ secrets: { ...(everything["secrets"] as Values) } }, /mailFrom/],
      [{ workers: 0 }, /workers/],
      [{ drainSeconds: 301 }, /drainSeconds/],
      [{ trustedProxies: ["ingress"] }, /trustedProxies/],
      [{ logLevel: "loud" }, /logLevel/],
      [{ replicas: 3 }, /replicas/],
      [{ settings: { SIGNET_MASTER_KEY: "hunter2" } }, /SIGNET_MASTER_KEY/],
      [{ settings: { SIGNET_MASTER_KEY_PREVIOUS: "hunter2" } }, /SIGNET_MASTER_KEY_PREVIOUS/],
      [{ settings: { DATABASE_URL_FILE: "x" } }, /DATABASE_URL_FILE/],
      [{ deviceTls: { enabled: true } }, /deviceTls/],
      [{ metrics: { serviceMonitor: { enabled: true } } }, /metrics/],
      [{ podDisruptionBudget: { maxUnavailable: 0 } }, /maxUnavailable/],
      [{ service: { type: "ExternalName" } }, /type/],
    ];
    for (const [values, named] of faulty) {
      const { status, words } = await helm(["template", "acme", chart], { ...needed, ...values });
      assert.notEqual(status, 0, JSON.stringify(values));
      assert.match(words, named);
      assert.doesNotMatch(words, /hunter2/);
    }
    const { status, words } = await helm(["template", "acme", chart], {});
    assert.notEqual(status, 0);
    assert.match(words, /baseUrl/);
  });
});
