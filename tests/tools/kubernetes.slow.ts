/**
 * Builds the files in `deploy/kubernetes` with kubectl, and holds them against the schemas of
 * Kubernetes and of the Prometheus Operator.
 */
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parseAllDocuments } from "yaml";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";

const kubernetes = suite("deploy/kubernetes");

const KUBECTL = "/usr/bin/kubectl";
const TOOLS = `${ROOT}tests/tools/`;
const MODELS = `${TOOLS}node_modules/kubernetes-models`;

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

function build(folder: string): Resource[] {
  const path = `${ROOT}deploy/kubernetes/${folder}`;
  const { status, stdout, stderr } = spawnSync(KUBECTL, ["kustomize", path], { encoding: "utf8" });
  assert.is(status, 0, stderr);
  return parseAllDocuments(stdout).map((document) => document.toJS());
}

const moduleOf = ({ apiVersion, kind }: Resource) => {
  const isOurs = apiVersion.startsWith("monitoring.coreos.com");
  const name = isOurs ? "@kubernetes-models/prometheus-operator" : "kubernetes-models";
  return `${name}/${apiVersion}/${kind}`;
};

/** Types know all members, whereas the schemas allow others. */
async function complaintsOf(resources: readonly Resource[]): Promise<string> {
  const folder = await mkdtemp(join(TOOLS, ".kubernetes-"));
  const lines = resources.flatMap((resource, at) => [
    `import type { I${resource.kind} as Kind${at} } from "${moduleOf(resource)}";`,
    `export const value${at}: Kind${at} = ${JSON.stringify(resource)};`,
  ]);
  try {
    const file = join(folder, "resources.ts");
    await writeFile(file, lines.join("\n"));
    const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "esnext"];
    const { stdout } = spawnSync(process.execPath, [
      ...[`${TOOLS}node_modules/typescript/lib/tsc.js`, ...flags],
      ...["--moduleResolution", "bundler", "--target", "es2022", file],
    ], { encoding: "utf8" });
    return stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

for (const folder of ["base", "ethereum"]) {
  testWhere(
    kubernetes,
    without(KUBECTL, MODELS),
    `kubectl builds ${folder}, which the schemas accept`,
    async () => {
      const resources = build(folder);
      assert.ok(resources.length >= 5, `${resources.length} resources`);
      for (const resource of resources) {
        // The types of these packages are not installed where this file is checked.
        const path = `${TOOLS}node_modules/${moduleOf(resource)}.js`;
        const { [resource.kind]: Model } = await import(path);
        new Model(resource).validate();
      }
      assert.is(await complaintsOf(resources), "");
      const misspelt = JSON.parse(JSON.stringify(resources).replaceAll("readinessP", "readynessP"));
      assert.match(await complaintsOf(misspelt), "readynessProbe");
    },
  );
}

testWhere(
  kubernetes,
  without(KUBECTL),
  "the sidecar is added to the pods of the nodes, with the port of the Service",
  () => {
    const set = build("ethereum").find(({ kind }) => kind === "StatefulSet") as unknown as {
      spec: { template: { spec: { containers: { name: string; args?: string[] }[] } } };
    };
    const { containers } = set.spec.template.spec;
    assert.equal(containers.map(({ name }) => name), ["nodeface", "node"]);
    return Promise.resolve();
  },
);

kubernetes.run();
