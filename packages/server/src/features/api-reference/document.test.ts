// Building the OpenAPI document: paths, schemas, samples, and the mistakes it rejects.
import assert from "node:assert/strict";
import { test } from "node:test";
import Type, { type TSchema } from "typebox";
import type { DescribedOperation } from "../../http/api/described-operation.ts";
import { describeApiOperation } from "./api-operation.ts";
import { openApiDocument } from "./document.ts";

const operation = (more: Partial<DescribedOperation> = {}): DescribedOperation => ({
  method: "GET",
  path: "/things/:id",
  operationId: "getThing",
  summary: "A thing",
  tag: "Service",
  security: [],
  answers: { 200: { description: "The thing" } },
  ...more,
});
const buildDocument = (...operations: DescribedOperation[]) =>
  openApiDocument({ operations, baseUrl: "https://id.example", version: "1.2.3" });
const answering = (schema: TSchema, more: Partial<DescribedOperation> = {}) =>
  operation({ answers: { 200: { description: "The thing", schema } }, ...more });

test("an optional path parameter yields two paths with distinct operationIds", () => {
  const { paths } = buildDocument(operation({ path: "/keys/:key/:appId?" }));
  assert.deepEqual(Object.keys(paths), ["/keys/{key}", "/keys/{key}/{appId}"]);
  const names = Object.values(paths).map(({ get }) => [get?.operationId, get?.summary]);
  assert.deepEqual(names, [
    ["getThing", "A thing"],
    ["getThingByAppId", "A thing, with {appId}"],
  ]);
  const parameters = paths["/keys/{key}/{appId}"]?.["get"]?.parameters ?? [];
  assert.deepEqual(
    parameters.map(({ name, in: place, required }) => [name, place, required]),
    [
      ["key", "path", true],
      ["appId", "path", true],
    ],
  );
});

test("a schema with a title becomes a shared component, a union of strings an enum", () => {
  const colour = Type.Union([Type.Literal("red"), Type.Literal("blue")]);
  const thing = Type.Object({ colour, more: Type.Record(Type.String(), Type.Unknown()) }, { title: "Thing" });
  const { paths, components } = buildDocument(
    answering(thing),
    answering(Type.Array(thing), { operationId: "listThings", path: "/things" }),
  );
  const content = (path: string) => {
    const response = paths[path]?.["get"]?.responses["200"];
    return response && "content" in response ? response.content?.["application/json"] : undefined;
  };
  const reference = { $ref: "#/components/schemas/Thing" };
  assert.deepEqual(content("/things/{id}")?.schema, reference);
  assert.deepEqual(content("/things")?.schema, { type: "array", items: reference });
  assert.deepEqual(content("/things")?.example, [{ colour: "red", more: {} }]);
  const { properties } = components.schemas["Thing"] ?? {};
  assert.deepEqual(properties, {
    colour: { type: "string", enum: ["red", "blue"] },
    more: { type: "object", additionalProperties: {} },
  });
});

test("an optional query parameter may be empty, and where null counts as absent an optional member may be null", () => {
  const query = Type.Object({ at: Type.String(), kind: Type.Optional(Type.Enum(["a", "b"])) });
  const body = Type.Object({ name: Type.String(), size: Type.Optional(Type.Integer({ description: "cm" })) });
  const api = { method: "PUT", path: "/things/:id", tag: "Service", credential: "administrator" } as const;
  const described = (more: object) =>
    describeApiOperation({
      ...api,
      operationId: "put",
      summary: "A thing",
      query,
      body,
      answers: {},
      ...more,
    });
  const sent = (more: object) => buildDocument(described(more)).paths["/things/{id}"]?.["put"];
  const parameters = sent({})?.parameters ?? [];
  const may = parameters.map(({ name, allowEmptyValue }) => [name, allowEmptyValue]);
  assert.deepEqual(
    may.filter(([name]) => name === "at" || name === "kind"),
    [
      ["at", undefined],
      ["kind", true],
    ],
  );
  const members = (more: object) => sent(more)?.requestBody?.content["application/json"]?.schema?.properties;
  assert.deepEqual(members({})?.["size"], { type: "integer", description: "cm" });
  assert.deepEqual(members({ lenient: { readOnly: [] } }), {
    name: { type: "string" },
    size: { anyOf: [{ type: "integer" }, { type: "null" }], description: "cm" },
  });
});

test("a session key in the path or the body is a parameter, in the query a security scheme", () => {
  const security = [["sessionKey"], ["sessionKey", "systemAccount"]] as const;
  const content = { contentType: "application/json", isOptional: false } as const;
  const schema = Type.Object({ Key: Type.String() });
  const { paths } = buildDocument(
    operation({ security, path: "/keys/:key?" }),
    operation({ security, path: "/logout", operationId: "logout", body: { ...content, schema } }),
  );
  const inPlace = [{}, { systemAccount: [] }];
  assert.deepEqual(paths["/keys"]?.["get"]?.security, [
    { sessionKey: [] },
    { sessionKey: [], systemAccount: [] },
  ]);
  assert.deepEqual(paths["/keys/{key}"]?.["get"]?.security, inPlace);
  assert.deepEqual(paths["/logout"]?.["get"]?.security, inPlace);
});

test("rejects duplicate titles, operationIds and addresses, and undescribed parameters and tags", () => {
  const named = (schema: TSchema) => Type.Object({ a: schema }, { title: "Thing" });
  const other = { operationId: "other", path: "/others/:id" };
  assert.throws(
    () => buildDocument(answering(named(Type.String())), answering(named(Type.Null()), other)),
    /Thing/,
  );
  assert.throws(() => buildDocument(operation(), operation({ path: "/others/:id" })), /getThing/);
  assert.throws(() => buildDocument(operation(), operation({ operationId: "other" })), /twice/);
  assert.throws(() => buildDocument(operation({ path: "/things/:unheardOf" })), /unheardOf/);
  assert.throws(() => buildDocument(operation({ tag: "Unheard of" })), /Unheard of/);
});

test("shell samples escape single quotes in the body", () => {
  const body = {
    contentType: "application/json",
    schema: Type.Object({ name: Type.String() }),
    isOptional: false,
    example: { name: "it's $HOME `id`" },
  } as const;
  const { paths } = buildDocument(operation({ method: "POST", path: "/things", body }));
  const [sample] = paths["/things"]?.["post"]?.["x-codeSamples"] ?? [];
  assert.ok(sample?.source.includes(`-d '{"name":"it'\\''s $HOME \`id\`"}'`));
});
