// Signs people in with Signet, names them, and signs them out. See README.md.
import { serve } from "@hono/node-server";
import { configurationFromEnvironment, createFilter } from "@signet/client-sdk";
import { honoMiddleware } from "@signet/client-sdk/hono";
import { Hono } from "hono";
import { page } from "./page.js";

const filter = createFilter(configurationFromEnvironment(process.env), { onError: console.warn });

const app = new Hono();
app.use(honoMiddleware(filter));
app.get("/", (context) => context.html(page(context.get("principal"))));
serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) });
