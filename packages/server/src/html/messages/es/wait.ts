import { formatDuration } from "../format.ts";

const LOCALE = "es";

export const wait = {
  heading: (organisation: string) => `Esperando la confirmación de ${organisation}`,
  explanation: (organisation: string, application: string) =>
    `${organisation} confirma cada inicio de sesión en ${application} con sus propias claves. Tarda un momento; después esta página continúa sola.`,
  noAgent: (organisation: string) => `${organisation} no puede confirmar ahora mismo`,
  noAgentText: (organisation: string, seconds: number) =>
    `Su sistema de firma no está conectado. Esta página lo sigue intentando durante ${formatDuration(LOCALE, seconds)}. Si no pasa nada, avisa a un administrador de ${organisation}.`,
  withdrawn: "Ya no hace falta que respondas",
  withdrawnText: "La última pregunta se ha retirado. Si hay otra, aparecerá aquí.",
  answered: "Comprobando tu respuesta",
  answeredText: (organisation: string) => `${organisation} la está revisando. Tarda un momento.`,
  look: "Ver si hay novedades",
  cancel: "Cancelar",
  message: (organisation: string) => `Mensaje de ${organisation}`,
  timeLeft: "Tiempo restante",
  offline: "La conexión se ha interrumpido. Esta página lo intenta de nuevo sola.",
  number: {
    heading: "Confirma con este número",
    explanation: (organisation: string) =>
      `Escríbelo donde ${organisation} te lo pida, por ejemplo en su aplicación.`,
    label: "Número",
    submit: "Ya lo he escrito",
  },
  passkey: {
    heading: "Confirma con tu llave de acceso",
    explanation: "Tu navegador te pide la huella, la cara, el PIN o una llave de seguridad.",
    submit: "Usar la llave de acceso",
    failed: "Tu navegador no ha obtenido ninguna llave de acceso. Inténtalo de nuevo o cancela.",
    needsScript: "Las llaves de acceso necesitan scripts, que están desactivados en este navegador.",
  },
  pin: {
    heading: (organisation: string) => `Escribe el código de ${organisation}`,
    explanation: "Te llega por otra vía, nunca en esta página.",
    label: "Código",
    submit: "Continuar",
  },
  question: (organisation: string) => `${organisation} te pregunta algo`,
  confirm: {
    heading: "¿Confirmas esto?",
    explanation: "Confirma solo lo que hayas iniciado tú.",
    submit: "Confirmar",
  },
  stale: "Tu respuesta no se ha usado",
  staleText: "La pregunta había cambiado entretanto. Lo que vale ahora está abajo.",
  pageTooOld: "Tu respuesta no se ha usado",
  pageTooOldText: "Esta página era demasiado antigua. Responde aquí de nuevo.",
  signed: (application: string) => `Te llevamos a ${application}`,
  signedText: (organisation: string) => `${organisation} ha confirmado.`,
  goOn: (application: string) => `Continuar a ${application}`,
  gone: "Aquí ya no queda nada por hacer",
  goneText: (application: string) =>
    `Este navegador ya ha continuado a ${application}. Si no la ves, empieza de nuevo desde allí.`,
  back: (application: string) => `Volver a ${application}`,
  backOnDevice:
    "Puedes cerrar esta página. Para intentarlo de nuevo, haz que tu dispositivo muestre un código nuevo.",
  expired: "Ha tardado demasiado",
  expiredText: (organisation: string) =>
    `${organisation} no ha confirmado a tiempo y nadie ha iniciado sesión. Inténtalo de nuevo en un momento.`,
  refused: (organisation: string) => `${organisation} no lo ha permitido`,
  refusedText: (organisation: string) =>
    `Sus propias reglas deciden quién inicia sesión y dónde. Si crees que es un error, pregunta a un administrador de ${organisation}.`,
  cancelled: "El inicio de sesión se ha cancelado",
  cancelledText: (organisation: string) =>
    `Nadie ha iniciado sesión. Si no lo has cancelado tú, avisa a un administrador de ${organisation}.`,
  wrongAnswer: "La respuesta no era correcta",
  wrongAnswerText: "Nadie ha iniciado sesión. Inténtalo otra vez y responde de nuevo.",
  noAnswer: "No hubo respuesta a tiempo",
  noAnswerText:
    "Nadie ha iniciado sesión. Inténtalo de nuevo cuando tengas a mano lo que hace falta para responder.",
  stepUp: (organisation: string) => `${organisation} pide un inicio de sesión más seguro`,
  stepUpText: "Nadie ha iniciado sesión. Inténtalo de nuevo y muestra tu segundo factor cuando se te pida.",
  technical: (organisation: string) => `${organisation} no ha podido confirmar`,
  technicalText: (organisation: string) =>
    `Su sistema de firma ha tenido un problema. Inténtalo de nuevo en un momento; si sigue igual, da a un administrador de ${organisation} la referencia de abajo.`,
};
