import { formatDuration } from "../format.ts";

const LOCALE = "es";

export const frame = {
  signInBy: "Inicio de sesión gestionado por Signet",
  about: "Signet: inicio de sesión y autorización para organizaciones",
  documentTitle: (title: string, organisation: string) => `${title} · ${organisation}`,
};

export const error = {
  titles: {
    badRequest: "Esta solicitud no puede continuar",
    notPermitted: "No tienes acceso a esta página",
    notFound: "No hay nada en esta dirección",
    tooMany: "Demasiadas solicitudes",
    internal: "Algo ha fallado por nuestra parte",
    unavailable: "Signet tiene mucho trabajo en este momento",
  },
  advice: {
    badRequest:
      "Vuelve a la aplicación de la que vienes e inténtalo de nuevo. Si se repite, avisa a su equipo de soporte.",
    notPermitted: "Inicia sesión con otra cuenta o consulta con un administrador de tu organización.",
    notFound: "Revisa la dirección o vuelve a la aplicación de la que vienes.",
    tooMany: "Espera unos minutos e inténtalo de nuevo.",
    internal:
      "No es culpa tuya. Inténtalo de nuevo en un momento; si el problema continúa, indica al equipo de soporte la referencia de abajo.",
    unavailable: "Espera un momento e inténtalo de nuevo.",
  },
  reasons: {
    "client-id-missing": "El enlace no indica ninguna aplicación (falta client_id).",
    "client-unknown": "La aplicación (client_id) no se conoce aquí.",
    "redirect-uri-missing": "El enlace no indica adónde volver (falta redirect_uri).",
    "redirect-uri-unregistered":
      "La dirección de regreso (redirect_uri) no está registrada para esta aplicación.",
    "app-id-missing": "El enlace no indica ninguna aplicación (falta appId).",
    "app-unknown": "La aplicación (appId) no se conoce aquí.",
    "return-url-missing": "El enlace no indica adónde volver (falta returnUrl).",
    "return-url-unregistered": "La dirección de regreso (returnUrl) no está registrada para esta aplicación.",
    "page-too-old": "Esta página es demasiado antigua. Vuelve a la aplicación y empieza de nuevo.",
    "answer-foreign":
      "Esta respuesta no corresponde a un inicio de sesión empezado aquí. Inténtalo de nuevo desde la página inicial.",
    "sign-in-not-completed": "El inicio de sesión no se completó.",
    "administrators-only": "Esta página es solo para administradores de la organización.",
    "foreign-form":
      "Este formulario se envió desde otro sitio y no se ha hecho nada. Abre la página aquí y rellénala tú.",
  },
  reference: "Referencia",
  back: (application: string) => `Ir a ${application}`,
};

export const signIn = {
  title: (application: string) => `Inicia sesión para continuar en ${application}`,
  heading: "Inicia sesión",
  headingTo: (application: string) => `para continuar en ${application}`,
  email: "Correo electrónico",
  password: "Contraseña",
  submit: (application: string) => `Continuar en ${application}`,
  failed: "Todavía no has iniciado sesión",
  again: "Confirma que eres tú",
  againText:
    "Tienes la sesión iniciada. Para hacer cambios, debe haberse iniciado en los últimos diez minutos.",
  invalidCredentials: "El correo y la contraseña no coinciden. Revisa ambos e inténtalo de nuevo.",
  rateLimited: (seconds: number) =>
    `Ha habido demasiados intentos. Espera ${formatDuration(LOCALE, seconds)} e inténtalo de nuevo.`,
  rateLimitedSoon: "Ha habido demasiados intentos. Espera unos minutos e inténtalo de nuevo.",
  busy: (seconds: number) =>
    `Muchas personas están iniciando sesión en este momento. Espera ${formatDuration(LOCALE, seconds)} e inténtalo de nuevo; no hay nada mal en lo que escribiste.`,
  busySoon:
    "Muchas personas están iniciando sesión en este momento. Espera un momento e inténtalo de nuevo; no hay nada mal en lo que escribiste.",
  disabled: (organisation: string, application: string) =>
    `Tu cuenta de ${organisation} no se puede usar para ${application}. Consulta con un administrador de ${organisation}.`,
  expired: "Esta página ha caducado",
  sessionExpired: "No se ha perdido nada: escribe de nuevo tu contraseña para continuar.",
  or: "o",
  usePasskey: "Usar una llave de acceso",
  invalidPasskey: "Esa llave de acceso no funciona aquí. Usa tu contraseña u otra llave de acceso.",
  passkeyFailed: "Tu navegador no obtuvo ninguna llave de acceso. Inténtalo de nuevo o usa tu contraseña.",
};

export const places = {
  account: (organisation: string) => `tu cuenta de ${organisation}`,
  device: (organisation: string) => `tu dispositivo (${organisation})`,
  devices: (organisation: string) => `los dispositivos de ${organisation}`,
  console: (organisation: string) => `la consola de ${organisation}`,
  application: (organisation: string) => `una aplicación de ${organisation}`,
};

export const notAssigned = {
  heading: (application: string) => `Todavía no puedes usar la aplicación ${application}`,
  explanation: (organisation: string, application: string) =>
    `En ${organisation}, la aplicación ${application} es para las personas a las que se ha asignado, y esta cuenta no está entre ellas.`,
  ask: (organisation: string) => `Pide a un administrador de ${organisation} que te la asigne.`,
  askContacts: "Para que te la asignen, consulta con:",
  signedInAs: "Sesión iniciada con",
  switchAccount: "¿No eres tú? Usa otra cuenta",
  back: (application: string) => `Volver a ${application}`,
};

export const account = {
  title: (application: string) => `Elige una cuenta para continuar en ${application}`,
  heading: "Elige una cuenta",
  headingTo: (application: string) => `para continuar en ${application}`,
  continueAs: (who: string) => `Continuar como ${who}`,
  other: "Usar otra cuenta",
};

export const signOut = {
  heading: (organisation: string) => `¿Cerrar sesión en ${organisation}?`,
  askedBy: (application: string) => `Lo ha pedido la aplicación ${application}.`,
  explanation: "En este navegador, las aplicaciones te pedirán que vuelvas a iniciar sesión.",
  signedInAs: "Sesión iniciada con",
  confirm: "Cerrar sesión",
  stay: "Mantener sesión",
  doneHeading: "Tu sesión está cerrada",
  done: (organisation: string) =>
    `Este navegador ya no tiene una sesión abierta en ${organisation}. Puedes cerrar esta ventana.`,
  back: (application: string) => `Ir a ${application}`,
};

export const formPost = {
  heading: (application: string) => `Te llevamos a ${application}`,
  explanation: "Los scripts están desactivados en este navegador: falta un paso más.",
  submit: (application: string) => `Continuar en ${application}`,
};
