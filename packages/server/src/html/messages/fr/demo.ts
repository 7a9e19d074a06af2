import { formatDuration, formatMoment } from "../format.ts";

const LOCALE = "fr";

export const landing = {
  heading: "Signet est en marche",
  summary:
    "Signet connecte les personnes et les services aux applications, avec un émetteur OAuth 2.0 et OpenID Connect par organisation.",
  running:
    "Les applications trouvent la connexion de leur organisation par l’adresse de découverte que leur donne son administrateur.",
  demoHeading: "Suivre une connexion du début à la fin",
  demoText:
    "Connectez-vous comme le ferait n’importe qui, autorisez l’application de démonstration à voir votre profil et regardez les jetons qu’elle reçoit.",
  tryIt: "Essayer",
  credentials:
    "Les adresses e‑mail et les mots de passe à utiliser s’affichent dans le terminal qui a lancé Signet et sont conservés dans",
  mails: "Les e‑mails ne sont pas envoyés. Ils sont conservés dans la",
  mailbox: "boîte aux lettres",
  organisations: "Organisations",
  organisationsText:
    "Chacune a son propre émetteur. Indiquez-le à une bibliothèque OpenID Connect : elle trouve le reste.",
  issuer: "Émetteur",
  discovery: "Document de découverte",
  discoveryOf: (organisation: string) => `Document de découverte de l’organisation ${organisation}`,
  console: "Ouvrir la console",
  consoleOf: (organisation: string) => `Ouvrir la console: ${organisation}`,
  documentation: "Documentation",
  apiReference: "Référence de l’API",
};

export const tokens = {
  heading: "La connexion a réussi",
  summary: (application: string) =>
    `L’application ${application} a échangé son code contre les deux jetons ci-dessous et vérifié leurs signatures, comme le ferait toute application.`,
  idToken: "Jeton d’identité",
  idTokenText: "Dit à l’application qui s’est connecté, et comment. Il n’est destiné qu’à l’application.",
  accessToken: "Jeton d’accès",
  accessTokenText:
    "Permet à l’application d’appeler une API. L’API en vérifie la signature, l’audience et les droits.",
  header: "En-tête",
  payload: "Contenu",
  verified: (algorithm: string) => `Signature vérifiée (${algorithm})`,
  notVerified: "Signature non vérifiée",
  keyFrom: "Clé publiée par l’organisation :",
  expiresIn: (milliseconds: number) => `Expire dans ${formatDuration(LOCALE, milliseconds / 1_000)}`,
  expired: "Expiré",
  neverExpires: "N’indique pas d’expiration",
  moment: (milliseconds: number) => `${formatMoment(LOCALE, milliseconds)} UTC`,
  encoded: "Le jeton tel qu’il a été envoyé",
  copy: "Copier",
  copied: "Copié",
  claims: "Ce que signifient les champs",
  again: "Recommencer",
  signOut: "Se déconnecter",
};

export const claims = {
  iss: "Émetteur : qui a créé le jeton",
  sub: "Sujet : de qui il parle, un identifiant permanent qui ne change jamais",
  aud: "Audience : qui peut l’accepter",
  exp: "Expiration : à ne plus accepter après ce moment",
  iat: "Émis à ce moment",
  nbf: "À ne pas accepter avant ce moment",
  jti: "L’identifiant du jeton lui-même, par lequel il peut être révoqué",
  client_id: "L’application qui l’a demandé",
  azp: "Partie autorisée : l’application pour laquelle il a été créé",
  scope: "Ce qui a été autorisé à l’application",
  auth_time: "Quand la personne a prouvé son identité pour la dernière fois",
  nonce: "Relie le jeton à la requête qui l’a demandé",
  acr: "Le niveau de sécurité de l’authentification",
  amr: "Par quels moyens : pwd désigne un mot de passe",
  at_hash: "Relie le jeton d’identité au jeton d’accès qui l’accompagne",
  sid: "La session du navigateur, pour se déconnecter partout",
  org_id: "L’organisation à laquelle il appartient",
  alg: "L’algorithme de signature",
  kid: "La clé de l’organisation qui l’a signé",
  typ: "De quel type de jeton il s’agit",
};

export const mailbox = {
  heading: "Boîte aux lettres",
  explanation:
    "Ce que cette démonstration aurait envoyé. Avec SMTP_URL, Signet envoie vraiment les e‑mails et ferme cette page.",
  empty:
    "Aucun e‑mail pour l’instant. Connectez-vous avec un nouveau navigateur, ou dites que vous avez oublié votre mot de passe.",
  list: "E‑mails, du plus récent au plus ancien",
  to: "À",
  at: "Date",
  moment: (milliseconds: number) => `${formatMoment(LOCALE, milliseconds)} UTC`,
  back: "Tous les e‑mails",
};
