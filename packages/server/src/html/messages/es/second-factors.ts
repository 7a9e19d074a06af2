import { formatDuration } from "../format.ts";

const LOCALE = "es";

export const twoFactor = {
  title: (application: string) => `Confirma que eres tú para continuar en ${application}`,
  headings: {
    passkey: "Usa tu llave de acceso",
    totp: "Escribe el código de autenticación",
    recovery: "Escribe un código de recuperación",
  },
  explanations: {
    passkey: "Tu navegador te pide tu huella, tu rostro, tu PIN o tu llave de seguridad.",
    totp: "Abre tu aplicación de autenticación y escribe los seis dígitos que muestra.",
    recovery: "Guardaste diez al configurar tu segundo factor. Cada uno funciona una sola vez.",
  },
  signingInAs: "Inicio de sesión con",
  otherAccount: "¿No eres tú? Usa otra cuenta",
  code: "Código",
  recoveryCode: "Código de recuperación",
  remember: "Recordar este navegador durante 30 días",
  rememberHint: "Solo si nadie más inicia sesión aquí.",
  submit: (application: string) => `Continuar en ${application}`,
  usePasskey: "Usar la llave de acceso",
  others: "Otra forma",
  choose: {
    passkey: "Usar una llave de acceso",
    totp: "Usar tu aplicación de autenticación",
    recovery: "Usar un código de recuperación",
  },
  needsScript: "Las llaves de acceso necesitan scripts, que están desactivados en este navegador.",
  failed: "Todavía no has iniciado sesión",
  failures: {
    passkey: "Esa llave de acceso no ha funcionado. Inténtalo de nuevo o elige otra forma.",
    totp: "El código es incorrecto, demasiado antiguo o ya se usó. Espera al siguiente y escríbelo.",
    recovery: "No es ninguno de tus códigos sin usar. Revísalo e inténtalo de nuevo.",
  },
  passkeyFailed: "Tu navegador no obtuvo ninguna llave de acceso. Inténtalo de nuevo o elige otra forma.",
  rateLimited: (seconds: number) =>
    `Ha habido demasiados códigos incorrectos. Espera ${formatDuration(LOCALE, seconds)} e inténtalo de nuevo.`,
  rateLimitedSoon: "Ha habido demasiados códigos incorrectos. Espera unos minutos e inténtalo de nuevo.",
};

export const enrolment = {
  title: (application: string) => `Añade un segundo factor para continuar en ${application}`,
  heading: "Añade un segundo factor",
  askedByOrganisation: (organisation: string) =>
    `${organisation} protege sus cuentas con algo más que una contraseña.`,
  askedByApplication: (application: string) => `Para ${application} no basta con una contraseña.`,
  totp: {
    heading: "Configura una aplicación de autenticación",
    scan: "Escanea este código con tu aplicación de autenticación",
    image: "Código QR para tu aplicación de autenticación",
    open: "¿En este dispositivo? Abre tu aplicación",
    byHand: "¿No puedes escanearlo?",
    key: "Escribe esta clave en tu aplicación:",
    copy: "Copiar",
    copied: "Copiada",
    code: "Código de la aplicación",
    submit: "Añadir la aplicación",
    wrong: "La aplicación todavía no está configurada",
    wrongCode: "Ese código no corresponde a esta clave. Espera al siguiente y escríbelo.",
  },
  passkey: {
    heading: "Añade una llave de acceso",
    explanation:
      "Con una llave de acceso inicias sesión con tu huella, tu rostro, un PIN o una llave de seguridad. Solo funciona aquí, así que ninguna página falsa puede quitártela.",
    name: "Nombre, para distinguir tus llaves de acceso",
    suggestedName: "Mi llave de acceso",
    submit: "Añadir la llave de acceso",
    wrong: "No se ha añadido la llave de acceso",
    notAdded: "No se ha podido usar la respuesta de tu navegador. Inténtalo de nuevo.",
    known: "Esta llave de acceso ya está añadida.",
    tooMany: "Tienes tantas llaves de acceso como admite una cuenta. Quita una primero.",
  },
  others: "Otra forma",
  choose: {
    totp: "Usar una aplicación de autenticación",
    passkey: "Usar una llave de acceso",
  },
};

export const recoveryCodes = {
  title: "Códigos de recuperación",
  heading: "Guarda tus códigos de recuperación",
  explanation:
    "Cada uno sirve para iniciar sesión una vez, cuando no tengas a mano tu segundo factor. Imprímelos o guárdalos en un gestor de contraseñas.",
  once: "No volverás a verlos",
  onceText: "Solo conservamos lo necesario para reconocerlos.",
  list: "Tus códigos de recuperación",
  copy: "Copiar todos",
  copied: "Copiados",
  kept: (destination: string) => `Ya los guardé, continuar en ${destination}`,
  keptHere: "Ya los guardé",
};
