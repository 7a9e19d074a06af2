/** How each library is installed and each stack started, as its own guide says. Nothing where an operator's setup decides. */
import type { StackName } from "./stacks.ts";

export interface StackCommands {
  readonly install?: string;
  /** In the application's folder. */
  readonly run?: string;
}

/** @param address of the application: a development server listens on its port */
export function commandsOf(name: StackName, address: string): StackCommands {
  return { ...commands[name], ...portCommand(name, new URL(address)) };
}

const npmDev = "npm run dev";

const commands: Readonly<Record<StackName, StackCommands>> = {
  generic: {},
  nextjs: { install: "npm install next-auth@beta", run: npmDev },
  authjs: { install: "npm install @auth/express", run: npmDev },
  express: { install: "npm install express express-openid-connect", run: "node app.mjs" },
  react: { install: "npm install oidc-client-ts react-oidc-context", run: npmDev },
  vue: { install: "npm install oidc-client-ts", run: npmDev },
  angular: { install: "npm install angular-auth-oidc-client", run: "npm start" },
  spring: {
    install: `# build.gradle.kts
implementation("org.springframework.boot:spring-boot-starter-oauth2-client")
implementation("org.springframework.boot:spring-boot-starter-oauth2-resource-server") // for an API`,
    run: "./gradlew bootRun",
  },
  django: { install: "pip install mozilla-django-oidc" },
  allauth: { install: `pip install "django-allauth[socialaccount]"` },
  authlib: { install: "pip install flask authlib requests" },
  fastapi: { install: `pip install "fastapi[standard]" authlib httpx itsdangerous` },
  go: { install: "go get github.com/coreos/go-oidc/v3/oidc golang.org/x/oauth2", run: "go run ." },
  rust: { install: "cargo add openidconnect", run: "cargo run" },
  rails: { install: "bundle add omniauth_openid_connect omniauth-rails_csrf_protection" },
  dotnet: { install: "dotnet add package Microsoft.AspNetCore.Authentication.OpenIdConnect" },
  php: { install: "composer require jumbojett/openid-connect-php" },
  "oauth2-proxy": {
    install: "go install github.com/oauth2-proxy/oauth2-proxy/v7@latest",
    run: "oauth2-proxy --config oauth2-proxy.cfg",
  },
  apache: {
    install: "sudo apt-get install libapache2-mod-auth-openidc && sudo a2enmod auth_openidc",
    run: "sudo apachectl configtest && sudo apachectl graceful",
  },
  grafana: { run: "sudo systemctl restart grafana-server" },
  gitlab: { run: "sudo gitlab-ctl reconfigure" },
  argocd: { run: "kubectl -n argocd rollout restart deployment argocd-server" },
  kubernetes: {
    install: "kubectl krew install oidc-login",
    run: "kubectl --user=signet get namespaces",
  },
  dex: { run: "dex serve dex.yaml" },
  keycloak: {},
  mcp: { run: "claude mcp list" },
};

/** Servers that are told their port on the command line. */
function portCommand(name: StackName, { origin, protocol, port: given }: URL): StackCommands {
  const port = given || (protocol === "https:" ? "443" : "80");
  switch (name) {
    case "django":
    case "allauth":
      return { run: `python manage.py migrate && python manage.py runserver ${port}` };
    case "authlib":
      return { run: `flask run --port ${port}` };
    case "fastapi":
      return { run: `fastapi dev main.py --port ${port}` };
    case "rails":
      return { run: `bin/rails server --port ${port}` };
    case "dotnet":
      return { run: `dotnet run --urls ${origin}` };
    case "php":
      return { run: `php -S localhost:${port}` };
    default:
      return {};
  }
}
