import { formatDuration, formatMoment } from "../format.ts";

const LOCALE = "es";

export const landing = {
  heading: "Signet está en marcha",
  summary:
    "Signet inicia la sesión de personas y servicios en las aplicaciones, con un emisor OAuth 2.0 y OpenID Connect por organización.",
  running:
    "Las aplicaciones encuentran el inicio de sesión de su organización con la dirección de descubrimiento que les da su administrador.",
  demoHeading: "Ver un inicio de sesión de principio a fin",
  demoText:
    "Inicia sesión como lo haría cualquiera, permite que la aplicación de demostración vea tu perfil y mira los tokens que recibe.",
  tryIt: "Probar",
  credentials:
    "Las direcciones de correo y las contraseñas que puedes usar aparecen en la terminal que inició Signet y se guardan en",
  mails: "Los correos no se envían. Se guardan en el",
  mailbox: "buzón",
  organisations: "Organizaciones",
  organisationsText:
    "Cada una tiene su propio emisor. Indícaselo a una biblioteca de OpenID Connect y ella encuentra el resto.",
  issuer: "Emisor",
  discovery: "Documento de descubrimiento",
  discoveryOf: (organisation: string) => `Documento de descubrimiento de ${organisation}`,
  console: "Abrir la consola",
  consoleOf: (organisation: string) => `Abrir la consola: ${organisation}`,
  documentation: "Documentación",
  apiReference: "Referencia de la API",
};

export const tokens = {
  heading: "Has iniciado sesión",
  summary: (application: string) =>
    `La aplicación ${application} canjeó su código por los dos tokens de abajo y comprobó sus firmas, como lo haría cualquier aplicación.`,
  idToken: "Token de identidad",
  idTokenText: "Dice a la aplicación quién inició sesión y cómo. Está destinado solo a la aplicación.",
  accessToken: "Token de acceso",
  accessTokenText:
    "Permite a la aplicación llamar a una API. La API comprueba su firma, su audiencia y su alcance.",
  header: "Encabezado",
  payload: "Contenido",
  verified: (algorithm: string) => `Firma comprobada (${algorithm})`,
  notVerified: "Firma no comprobada",
  keyFrom: "Clave publicada por la organización:",
  expiresIn: (milliseconds: number) => `Caduca en ${formatDuration(LOCALE, milliseconds / 1_000)}`,
  expired: "Caducado",
  neverExpires: "No indica caducidad",
  moment: (milliseconds: number) => `${formatMoment(LOCALE, milliseconds)} UTC`,
  encoded: "El token tal como se envió",
  copy: "Copiar",
  copied: "Copiado",
  claims: "Qué significan los campos",
  again: "Probar otra vez",
  signOut: "Cerrar sesión",
};

export const claims = {
  iss: "Emisor: quién creó el token",
  sub: "Sujeto: de quién trata, un identificador permanente que nunca cambia",
  aud: "Audiencia: quién puede aceptarlo",
  exp: "Caducidad: no debe aceptarse después de este momento",
  iat: "Emitido en este momento",
  nbf: "No debe aceptarse antes de este momento",
  jti: "El identificador del propio token, con el que se puede revocar",
  client_id: "La aplicación que lo pidió",
  azp: "Parte autorizada: la aplicación para la que se creó",
  scope: "Lo que se permitió a la aplicación",
  auth_time: "Cuándo demostró la persona por última vez quién es",
  nonce: "Une el token a la solicitud que lo pidió",
  acr: "El nivel de seguridad de la autenticación",
  amr: "Por qué medios: pwd es una contraseña",
  at_hash: "Une el token de identidad al token de acceso que lo acompaña",
  sid: "La sesión del navegador, para cerrar sesión en todas partes",
  org_id: "La organización a la que pertenece",
  alg: "El algoritmo de firma",
  kid: "Cuál de las claves de la organización lo firmó",
  typ: "Qué tipo de token es",
};

export const mailbox = {
  heading: "Buzón",
  explanation:
    "Lo que esta demostración habría enviado. Con SMTP_URL, Signet envía los correos de verdad y cierra esta página.",
  empty: "Todavía no hay correos. Inicia sesión con un navegador nuevo o indica que olvidaste tu contraseña.",
  list: "Correos, los más recientes primero",
  to: "Para",
  at: "Fecha",
  moment: (milliseconds: number) => `${formatMoment(LOCALE, milliseconds)} UTC`,
  back: "Todos los correos",
};
