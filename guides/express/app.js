// Signs people in with Signet, names them, and signs them out. See README.md.
import { configurationFromEnvironment, createFilter, principalOf } from "@signet/client-sdk";
import { expressMiddleware } from "@signet/client-sdk/express";
import express from "express";
import { page } from "./page.js";

const filter = createFilter(configurationFromEnvironment(process.env), { onError: console.warn });

const app = express();
app.use(expressMiddleware(filter));
app.get("/", (request, response) => response.send(page(principalOf(request))));
app.listen(process.env.PORT ?? 3000);
