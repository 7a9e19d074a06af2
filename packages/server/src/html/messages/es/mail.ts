import { formatDuration, formatMinute } from "../format.ts";

const LOCALE = "es";

const utc = (milliseconds: number) => `${formatMinute(LOCALE, milliseconds)} UTC`;

export const recovery = {
  forgot: "¿Olvidaste tu contraseña?",
  heading: "¿Olvidaste tu contraseña?",
  explanation: (organisation: string) =>
    `Escribe el correo electrónico de tu cuenta de ${organisation}. Recibirás un correo con un enlace para crear una contraseña nueva.`,
  email: "Correo electrónico",
  send: "Enviar el correo",
  back: "Volver al inicio de sesión",
  notSent: "No se ha enviado ningún correo",
  invalidEmail: "Esto no es una dirección de correo. Revísala e inténtalo de nuevo.",
  rateLimited: (seconds: number) =>
    `Ha habido muchas solicitudes. Usa el correo más reciente que tengas, o espera ${formatDuration(LOCALE, seconds)} e inténtalo de nuevo.`,
  expired: "Esta página ha caducado",
  sendAgain: "No se ha perdido nada: envíalo una vez más.",
  sentHeading: "Revisa tu correo",
  sent: (email: string, organisation: string) =>
    `Si hay una cuenta de ${organisation} para ${email}, un correo con un enlace va en camino a esa dirección. El enlace funciona una sola vez, durante una hora.`,
  nothingArrived:
    "¿No ha llegado nada después de unos minutos? Mira en el correo no deseado y revisa la dirección.",
  tryAgain: "Probar con otra dirección",
  notSetUpHeading: "Aquí no está configurado el correo",
  notSetUp: (organisation: string) =>
    `Por eso no se te puede enviar un enlace. Pide una contraseña nueva a un administrador de ${organisation}.`,
  newHeading: "Crea una contraseña nueva",
  account: "Para la cuenta",
  newPassword: "Contraseña nueva",
  hint: (least: number) =>
    `Al menos ${least} caracteres. Unas cuantas palabras sin relación entre sí son fáciles de recordar.`,
  signsOut: "Se cerrarán todas las sesiones abiertas con la contraseña anterior, aquí y en todas partes.",
  set: "Guardar esta contraseña",
  notChanged: "La contraseña sigue siendo la anterior",
  refused: {
    "too-short": (least: number) => `Elige una más larga: al menos ${least} caracteres.`,
    "too-long": (most: number) => `Elige una más corta: como máximo ${most} caracteres.`,
    "repeats-pattern": "Repite un mismo patrón. Elige una más difícil de adivinar.",
    "is-sequence": "Es una simple secuencia. Elige una más difícil de adivinar.",
    "is-common": "Es una de las que se prueban primero. Elige una más difícil de adivinar.",
    "is-about-user": "Está formada por tu nombre o tu dirección. Elige una más difícil de adivinar.",
  },
  busy: (seconds: number) =>
    `Muchas personas están iniciando sesión en este momento. Espera ${formatDuration(LOCALE, seconds)} y escríbela de nuevo; no hay nada mal en ella.`,
  typeAgain: "No se ha perdido nada: escribe una vez más la contraseña nueva.",
  doneHeading: "Tu contraseña ha cambiado",
  done: (organisation: string) =>
    `Se han cerrado todas las sesiones de tu cuenta de ${organisation}. Inicia sesión ahora con la contraseña nueva.`,
  doneElsewhere: "Puedes cerrar esta ventana e iniciar sesión donde estabas.",
  checkFactors: "¿Quizá alguien conocía la contraseña anterior? Revisa con qué más se puede iniciar sesión.",
  goOn: (application: string) => `Continuar en ${application}`,
};

export const brokenLink = {
  heading: "Este enlace ya no funciona",
  explanation:
    "Ya se usó, es demasiado antiguo o se envió otro después. El que funciona está en el correo más reciente.",
  another: "Pedir otro correo",
};

export const verifyEmail = {
  heading: "Confirma tu correo electrónico",
  explanation: (organisation: string) =>
    `Para que puedas continuar, ${organisation} necesita saber que esta dirección es tuya. Recibirás un correo con un enlace.`,
  signedInAs: "Sesión iniciada con",
  switchAccount: "¿No eres tú? Usa otra cuenta",
  send: "Enviar el correo",
  sentHeading: "Revisa tu correo",
  sent: (email: string) =>
    `Un correo con un enlace va en camino a ${email}. El enlace funciona una sola vez, durante un día.`,
  nothingArrived: "¿No ha llegado nada después de unos minutos? Mira en el correo no deseado.",
  notSetUp: (organisation: string) =>
    `Por eso no se te puede enviar un enlace. Pide a un administrador de ${organisation} que confirme tu dirección.`,
  confirmHeading: "¿Es este tu correo electrónico?",
  confirmText: (organisation: string) =>
    `Alguien, seguramente tú, tiene una cuenta de ${organisation} con esta dirección. Si no sabes nada de ello, cierra esta página: no pasará nada.`,
  account: "Para la cuenta",
  confirm: "Sí, confirmarlo",
  notConfirmed: "La dirección todavía no está confirmada",
  confirmAgain: "No se ha perdido nada: confírmala una vez más.",
  doneHeading: "Tu correo electrónico está confirmado",
  done: (organisation: string) => `Ahora ${organisation} sabe que esta dirección es tuya.`,
};

export const action = {
  account: "Para la cuenta",
  newAddress: "Dirección nueva",
  expired: "Esta página ha caducado",
  again: "No se ha perdido nada: inténtalo de nuevo.",
  notSet: "Todavía no hay contraseña",
  busy: (seconds: number) =>
    `Muchas personas están iniciando sesión en este momento. Espera ${formatDuration(LOCALE, seconds)} e inténtalo de nuevo; no hay nada mal en lo que escribiste.`,
  VerifyEmail: {
    heading: "¿Es este tu correo electrónico?",
    text: (organisation: string) =>
      `Alguien, seguramente tú, se ha registrado en ${organisation} con esta dirección. Si no sabes nada de ello, cierra esta página: no pasará nada.`,
    confirm: "Sí, confirmarlo",
    doneHeading: "Tu correo electrónico está confirmado",
    done: (organisation: string) => `Ya puedes iniciar sesión en ${organisation}.`,
  },
  AcceptInvitation: {
    heading: "Crea una contraseña",
    text: (organisation: string) => `La usarás para iniciar sesión en ${organisation}.`,
    confirm: "Guardar esta contraseña",
    doneHeading: "Tu cuenta está lista",
    done: (organisation: string) => `Ya puedes iniciar sesión en ${organisation}.`,
  },
  AcceptRoaming: {
    heading: "¿Usar tu cuenta también aquí?",
    text: (organisation: string) =>
      `En ${organisation} verán tu nombre, tu correo electrónico y tu número de teléfono, y podrán darte acceso a sus aplicaciones. No podrán cambiar tu contraseña. Si no quieres, cierra esta página: no pasará nada.`,
    confirm: "Sí, usarla aquí",
    doneHeading: "Tu cuenta ya funciona también aquí",
    done: (organisation: string) => `Ya puedes iniciar sesión en ${organisation} con tu cuenta.`,
  },
  ChangeEmail: {
    heading: "¿Es este tu correo electrónico nuevo?",
    text: (organisation: string) =>
      `Si lo confirmas, será el de tu cuenta de ${organisation} y los correos llegarán allí. Si no sabes nada de ello, cierra esta página: no pasará nada.`,
    confirm: "Sí, cambiarlo",
    doneHeading: "Tu correo electrónico ha cambiado",
    done: (organisation: string) => `Tu cuenta de ${organisation} usa el nuevo a partir de ahora.`,
  },
};

const factors = {
  totp: "una aplicación de autenticación",
  passkey: "una llave de acceso",
  "recovery-codes": "una serie de códigos de recuperación",
};

export const mails = {
  test: {
    subject: (title: string) => `Prueba: ${title}`,
    text: "Es una prueba que un administrador se ha enviado a sí mismo. No ha pasado nada, y el botón no lleva a nada que se pueda hacer.",
  },
  footer: (organisation: string) =>
    `Enviado por Signet en nombre de ${organisation}. Nadie lee las respuestas a esta dirección.`,
  fact: (name: string, value: string) => `${name}: ${value}`,
  copyLink: "Si el botón no funciona, copia esta dirección en tu navegador:",
  facts: { at: "Fecha", browser: "Navegador", address: "Dirección de red" },
  moment: utc,
  newPassword: "Crear una contraseña nueva",
  notYou:
    "Si no fuiste tú, crea enseguida una contraseña nueva. Con eso se cierran todas las sesiones abiertas.",
  resetPassword: {
    subject: (organisation: string) => `Crea una contraseña nueva para ${organisation}`,
    text: (organisation: string) =>
      `Alguien, seguramente tú, pidió crear una contraseña nueva para tu cuenta de ${organisation}.`,
    validity: (expiresAt: number) => `El enlace funciona una sola vez, hasta el ${utc(expiresAt)}.`,
    otherwise: "Si no lo pediste, no tienes que hacer nada: tu contraseña sigue igual.",
  },
  verifyEmail: {
    subject: (organisation: string) => `Confirma tu correo electrónico para ${organisation}`,
    text: (organisation: string) => `Confirma que esta es la dirección de tu cuenta de ${organisation}.`,
    confirm: "Confirmar esta dirección",
    validity: (expiresAt: number) => `El enlace funciona una sola vez, hasta el ${utc(expiresAt)}.`,
    otherwise: "Si no sabes nada de ello, no tienes que hacer nada.",
  },
  acceptInvitation: {
    subject: (organisation: string) => `Tienes una invitación de ${organisation}`,
    text: (organisation: string) =>
      `${organisation} ha preparado una cuenta para ti. Crea una contraseña y será tuya.`,
    confirm: "Crear una contraseña",
    validity: (expiresAt: number) => `El enlace funciona una sola vez, hasta el ${utc(expiresAt)}.`,
    otherwise:
      "Si no sabes nada de ello, no tienes que hacer nada: nadie puede iniciar sesión en esa cuenta.",
  },
  acceptRoaming: {
    subject: (organisation: string) => `¿Usar tu cuenta también en ${organisation}?`,
    text: (organisation: string) =>
      `Si quieres, puedes iniciar sesión en ${organisation} con la cuenta que ya tienes. Allí verían tu nombre, tu correo electrónico y tu número de teléfono, pero no podrían cambiar tu contraseña.`,
    confirm: "Ver los detalles",
    validity: (expiresAt: number) => `El enlace funciona una sola vez, hasta el ${utc(expiresAt)}.`,
    otherwise: "Si no quieres, no tienes que hacer nada: no cambiará nada.",
  },
  changeEmail: {
    subject: (organisation: string) => `Confirma tu correo electrónico nuevo para ${organisation}`,
    text: (organisation: string) =>
      `Confirma que esta es la dirección nueva de tu cuenta de ${organisation}. Hasta entonces se mantiene la anterior.`,
    confirm: "Confirmar esta dirección",
    validity: (expiresAt: number) => `El enlace funciona una sola vez, hasta el ${utc(expiresAt)}.`,
    otherwise: "Si no sabes nada de ello, no tienes que hacer nada.",
  },
  accountExists: {
    subject: (organisation: string) => `Ya tienes una cuenta de ${organisation}`,
    text: (organisation: string) =>
      `Alguien, seguramente tú, quiso registrarse en ${organisation} con esta dirección. Ya hay una cuenta con ella, y nada ha cambiado.`,
    advice:
      "Inicia sesión con la contraseña que tienes. Si no la recuerdas, crea una nueva. Si no fuiste tú, no tienes que hacer nada.",
  },
  emailChanged: {
    subject: (organisation: string) => `Se ha cambiado tu correo electrónico de ${organisation}`,
    text: (organisation: string) =>
      `Tu cuenta de ${organisation} tiene otro correo electrónico a partir de ahora. Este ya no se usa para ella.`,
    advice: (organisation: string) =>
      `Si no fuiste tú, avisa enseguida a un administrador de ${organisation}: los correos con enlaces van ahora a la otra dirección.`,
  },
  accountDeleted: {
    subject: (organisation: string) => `Tu cuenta de ${organisation} se ha eliminado`,
    text: (organisation: string) =>
      `Tu cuenta de ${organisation} ya no existe, ni nada de lo que se guardaba allí sobre ti. Se ha cerrado tu sesión en todas partes y las aplicaciones lo saben.`,
    advice: (organisation: string) =>
      `Si no fuiste tú, avisa enseguida a un administrador de ${organisation}. La cuenta no se puede recuperar.`,
  },
  passwordChanged: {
    subject: (organisation: string) => `Se ha cambiado tu contraseña de ${organisation}`,
    text: (organisation: string) =>
      `Tu cuenta de ${organisation} tiene una contraseña nueva. Se han cerrado las sesiones abiertas con la anterior.`,
  },
  newSignIn: {
    subject: (organisation: string) => `Nuevo inicio de sesión en ${organisation}`,
    text: (organisation: string) =>
      `Alguien inició sesión en tu cuenta de ${organisation} con un navegador que no se había usado antes con ella. Si fuiste tú, no tienes que hacer nada.`,
  },
  factorAdded: {
    subject: (factor: keyof typeof factors, organisation: string) =>
      `Se ha añadido ${factors[factor]} a tu cuenta de ${organisation}`,
    text: (factor: keyof typeof factors, organisation: string) =>
      `Se ha añadido ${factors[factor]} a tu cuenta de ${organisation}. A partir de ahora sirve para iniciar sesión.`,
  },
  factorRemoved: {
    subject: (factor: keyof typeof factors, organisation: string) =>
      `Se ha quitado ${factors[factor]} de tu cuenta de ${organisation}`,
    text: (factor: keyof typeof factors, organisation: string) =>
      `Se ha quitado ${factors[factor]} de tu cuenta de ${organisation}. Ya no sirve para iniciar sesión.`,
  },
};
