// Express with Auth.js and the auth.config.ts that `app create --for authjs` prints. `/` answers the session.
import { ExpressAuth, getSession } from "@auth/express";
import express from "express";
import { authConfig } from "./auth.config.ts";

const app = express();
app.use("/auth", ExpressAuth(authConfig));
app.get("/", async (request, response) => {
  response.json(await getSession(request, authConfig));
});
app.listen(Number(process.argv[2]));
