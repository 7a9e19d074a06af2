// Signs people in with Signet, names them, and signs them out. See README.md.
import { configurationFromEnvironment, createFilter, principalOf } from "@signet/client-sdk";
import { fastifyPlugin } from "@signet/client-sdk/fastify";
import fastify from "fastify";
import { page } from "./page.js";

const filter = createFilter(configurationFromEnvironment(process.env), { onError: console.warn });

const app = fastify();
await app.register(fastifyPlugin(filter));
app.get("/", (request, reply) => reply.type("text/html").send(page(principalOf(request))));
await app.listen({ port: Number(process.env.PORT ?? 3000) });
