import type { overview as english } from "../../en/console/overview.ts";
import { formatDay, formatMinute } from "../../format.ts";

const LOCALE = "es";

export const overview: typeof english = {
  summary: (organisation) => `Qué ocurre en ${organisation} y qué requiere tu atención.`,
  figures: {
    title: "En cifras",
    users: "Usuarios",
    applications: "Aplicaciones",
    sessions: "Navegadores con sesión",
    devices: "Dispositivos",
    agents: "Agentes conectados",
    moreThan: (count) => `más de ${new Intl.NumberFormat(LOCALE).format(count)}`,
    ofAgents: (count) => (count === 1 ? "de 1 agente" : `de ${count} agentes`),
  },
  range: {
    label: "Periodo",
    "24h": "24 horas",
    "7d": "7 días",
    "30d": "30 días",
    "90d": "90 días",
  },
  charts: {
    numbers: "Mostrar las cifras",
    time: "Hora (UTC)",
    signIns: "Inicios de sesión",
    succeeded: "Correctos",
    failed: "Fallidos",
    tokens: "Tokens emitidos",
    issued: "Emitidos",
    refused: "Rechazados",
    agents: "Agentes de firma",
    agentsAtOnce: "Máximo a la vez",
    signed: "Firmadas",
    from: (milliseconds) => `Desde el ${formatMinute(LOCALE, milliseconds)}, en UTC.`,
  },
  attention: {
    title: "Requiere atención",
    none: "Ahora mismo nada requiere tu atención.",
    poolAway: (name) => `Ningún agente del grupo ${name} está conectado`,
    poolAwayText: "Sus aplicaciones no reciben tokens hasta que se conecte alguno.",
    poolEmpty: (name) => `El grupo ${name} aún no tiene agentes`,
    poolEmptyText: "No puede firmar hasta que registres uno.",
    secretEnds: (application) => `Un secreto de ${application} caduca pronto`,
    secretEnded: (application) => `Un secreto de ${application} ha caducado`,
    secretEndsText: (title, milliseconds) =>
      `“${title}” es válido hasta el ${formatDay(LOCALE, milliseconds)}.`,
    secretEndedText: (title, milliseconds) =>
      `“${title}” era válido hasta el ${formatDay(LOCALE, milliseconds)}.`,
    mailOff: "No se puede enviar correo",
    mailOffText:
      "Las invitaciones y los enlaces para contraseñas nuevas no llegan hasta que el operador configure un servidor de correo.",
    mailFailed: (count) =>
      count === 1 ? "Un correo no se pudo entregar" : `${count} correos no se pudieron entregar`,
    mailFailedText: "En los dos últimos días.",
    keyOld: (algorithm) => `La clave de firma para ${algorithm} es antigua`,
    keyOldText: (milliseconds) => `Se creó el ${formatDay(LOCALE, milliseconds)}. Renuévala.`,
    caEnds: "El certificado de la autoridad de dispositivos caduca pronto",
    caEndsText: (milliseconds) => `Es válido hasta el ${formatDay(LOCALE, milliseconds)}. Renuévalo.`,
  },
  events: {
    title: "Últimos eventos",
    all: "Registro de auditoría",
    none: "Todavía no ha ocurrido nada.",
    noneText: "Aquí se anota lo que hacen los administradores y los usuarios.",
  },
  first: {
    title: "Primeros pasos",
    text: "Dos pasos, y tu organización está en marcha.",
    application: "Poner en marcha una aplicación",
    applicationText: "Elige qué construyes y copia los valores que necesita.",
    quickstart: "Abrir el inicio rápido",
    users: "Invitar a tus usuarios",
    usersText: "Reciben un correo y eligen su propia contraseña.",
    invite: "Invitar a un usuario",
  },
};
