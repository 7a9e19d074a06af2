/** What can be set of an application: each field with what it does. */
import { formatLifetime } from "../../format.ts";

const LOCALE = "es";
const number = (count: number) => new Intl.NumberFormat(LOCALE).format(count);

export const applicationSettings = {
  title: (application: string) => `Ajustes de ${application}`,
  heading: "Ajustes",
  summary: "Los cambios se aplican desde el próximo inicio de sesión y el próximo token.",
  jump: "Secciones de los ajustes",
  none: "Ninguno",
  unknownPool: "Un grupo que ya no existe:",
  unit: "segundos",
  range: (least: number, most: number) => `De ${number(least)} a ${number(most)} segundos.`,
  reading: (seconds: number) => `Es decir, ${formatLifetime(LOCALE, seconds)}.`,
  fine: "Es correcto.",
  inLine: (count: number, value: string) => `Línea ${number(count)}: ${value}`,
  cards: {
    general: {
      title: "Datos generales",
      text: "Lo que las personas ven de ella al iniciar sesión o cuando se les pregunta.",
    },
    addresses: {
      title: "Direcciones",
      text: "Adónde se puede enviar a los navegadores con una respuesta, comparadas carácter por carácter.",
    },
    signIn: {
      title: "Inicio de sesión y consentimiento",
      text: "Quién puede usarla, y qué seguridad debe tener un inicio de sesión.",
    },
    tokens: { title: "Los tokens", text: "Cómo los obtiene, y para qué sirven." },
    lifetimes: {
      title: "Duraciones",
      text: "Cuánto tiempo son válidos los tokens, y cuándo hay que iniciar sesión de nuevo.",
    },
    signatures: { title: "Contenido y firmas", text: "Qué llevan los tokens, y quién los firma." },
    proof: {
      title: "Autenticación",
      text: "Cómo demuestra que una petición de tokens es suya.",
    },
    legacy: {
      title: "Federación antigua",
      text: "Para aplicaciones que trabajan con claves de sesión.",
    },
    logout: { title: "Cierre de sesión", text: "Cómo se entera de que una sesión ha terminado." },
  },
  fields: {
    name: { label: "Nombre", hint: "Como lo ven las personas, en 100 caracteres como mucho." },
    description: { label: "Descripción", hint: "Para administradores, en 500 caracteres como mucho." },
    homepageUri: { label: "Página principal", hint: "Enlazada desde las páginas de inicio de sesión." },
    logoUri: { label: "Logotipo", hint: "La dirección de una imagen." },
    contacts: { label: "Contactos", hint: "A quién preguntar por ella, uno por línea." },
    redirectUris: {
      label: "URI de redirección",
      hint: "Adónde se envían los códigos, una por línea: https, o http en este ordenador con cualquier puerto.",
    },
    postLogoutRedirectUris: {
      label: "Direcciones tras cerrar sesión",
      hint: "Adónde puede ir un navegador tras cerrar sesión, una por línea.",
    },
    access: { label: "Quién puede usarla", hint: "Se aplica a todas las formas de iniciar sesión." },
    consentMode: {
      label: "A quién se pregunta",
      hint: "Antes de que la aplicación sepa algo de una persona.",
    },
    requiredAcr: {
      label: "Seguridad mínima del inicio de sesión",
      hint: "A quien tenga una sesión menos segura se le pide más.",
    },
    requirePkce: {
      label: "Exigir PKCE",
      hint: "Déjalo marcado, salvo que la aplicación sea demasiado antigua para ello.",
    },
    grantTypes: { label: "Formas de obtener tokens", hint: "Solo las que usa." },
    allowedScopes: { label: "Scopes", hint: "Lo que puede pedir. No obtiene nada más." },
    audience: {
      label: "Destinatario",
      hint: "La API para la que son sus tokens de acceso. El emisor, si está vacío.",
    },
    allowedResources: {
      label: "Otras API",
      hint: "Lo que puede nombrar como resource en una petición, una por línea.",
    },
    accessTokenLifetimeSeconds: {
      label: "Token de acceso",
      hint: "Los tokens de identidad duran lo mismo. Una duración corta limita el uso de un token robado.",
    },
    refreshTokenLifetimeSeconds: {
      label: "Token de actualización",
      hint: "Si una aplicación está ausente más tiempo, hay que iniciar sesión de nuevo.",
    },
    refreshTokenAbsoluteLifetimeSeconds: {
      label: "Inicio de sesión completo",
      hint: "Entonces termina, por mucho que se haya actualizado. Nunca menos que un token de actualización.",
    },
    refreshTokenGraceSeconds: {
      label: "Actualización repetida",
      hint: "Durante ese tiempo se puede reenviar una actualización cuya respuesta se perdió. Con 0, nunca.",
    },
    issueRefreshTokenWithoutOfflineAccess: {
      label: "Tokens de actualización sin offline_access",
      hint: "Entonces terminan con la sesión.",
    },
    idTokenIncludesScopeClaims: {
      label: "Nombre, dirección y teléfono en el token de identidad",
      hint: "Si no, se piden en userinfo.",
    },
    idTokenSignedResponseAlg: {
      label: "Firma de los tokens de identidad",
      hint: "ES256 es compacta y está muy extendida.",
    },
    accessTokenSignedResponseAlg: {
      label: "Firma de los tokens de acceso",
      hint: "Cada API que los acepte debe admitirla.",
    },
    signingPoolId: { label: "Grupo de firma", hint: "Solo sus agentes firman los tokens." },
    tokenEndpointAuthMethod: {
      label: "Método",
      hint: "Una clave o un certificado nunca sale de la aplicación.",
    },
    jwks: {
      label: "Claves públicas",
      hint: "Un conjunto JWK de claves públicas, o su dirección más abajo.",
    },
    jwksUri: {
      label: "Dirección de las claves públicas",
      hint: "Por https. Se vuelve a leer de vez en cuando.",
    },
    tlsClientAuthSanUri: {
      label: "Dispositivo",
      hint: "La dirección en el certificado del único dispositivo que puede actuar por ella. Si está vacío, cualquiera.",
    },
    tlsClientCertificateBoundAccessTokens: {
      label: "Los tokens están ligados al dispositivo",
      hint: "En otras manos no sirven de nada.",
    },
    returnUrls: {
      label: "Direcciones de vuelta",
      hint: "Adónde puede volver el inicio de sesión de la federación, una por línea. Cada una incluye todo lo que está por debajo.",
    },
    allowPermanentKeys: {
      label: "Las claves de sesión pueden hacerse permanentes",
      hint: "Son válidas hasta que alguien las revoque.",
    },
    requireSignedKeyCalls: {
      label: "Exigir llamadas firmadas con una clave de sesión",
      hint: "Así, una clave que acabe en un registro no abre nada.",
    },
    backchannelLogoutUri: {
      label: "Cierre de sesión en segundo plano",
      hint: "Allí se le avisa cuando termina una sesión de la que tiene tokens. Por https.",
    },
  },
  otherScopes: { other: "Otros scopes", otherHint: "Scopes que no están en la lista, uno por línea." },
  choices: {
    everyone: "Toda la organización",
    assigned: "Personas asignadas",
    user: "Cada persona",
    organisation: "Los administradores",
    preauthorized: "Nadie",
    password: "Contraseña",
    multiFactor: "Segundo factor",
    phishingResistant: "Llave de acceso o de seguridad",
    authorization_code: "Inicio de sesión en el navegador",
    refresh_token: "Tokens de actualización",
    client_credentials: "En nombre propio",
    device_code: "Código en otro dispositivo",
    client_secret_post: "Secreto en el cuerpo de la petición",
    client_secret_basic: "Secreto en la cabecera Authorization",
    private_key_jwt: "Firma con una clave privada",
    tls_client_auth: "Certificado de un dispositivo",
    none: "Nada: no puede guardar un secreto",
  },
  choiceTexts: {
    everyone: "Todos los que pueden iniciar sesión aquí.",
    assigned: "Quienes están en su lista de personas.",
    user: "Una vez, cuando la usan por primera vez.",
    organisation: "Deciden por todos, en Consentimientos.",
    preauthorized: "Para aplicaciones propias.",
    authorization_code: "Para personas. La forma habitual.",
    refresh_token: "Las personas siguen con la sesión iniciada sin que se les pregunte de nuevo.",
    client_credentials: "Para servicios: nadie inicia sesión.",
    device_code: "Para dispositivos sin teclado.",
  },
  faults: {
    name: "De 1 a 100 caracteres visibles.",
    description: "Como mucho 500 caracteres visibles.",
    homepageUri: "No es una dirección web.",
    logoUri: "No es una dirección web.",
    contacts: "Como mucho 20 líneas, de hasta 254 caracteres cada una.",
    redirectUris: "Como mucho 50 direcciones.",
    postLogoutRedirectUris: "Como mucho 50 direcciones.",
    returnUrls: "Como mucho 50 direcciones.",
    grantTypes: "Al menos una. “En nombre propio” es para aplicaciones que se autentican.",
    allowedScopes: "Como mucho 100 scopes, de letras, cifras y signos corrientes sin espacios.",
    audience: "Letras, cifras y signos sin espacios.",
    allowedResources: "Direcciones completas sin fragmento, como mucho 100.",
    accessTokenLifetimeSeconds: "Un número entero de segundos dentro del margen indicado.",
    refreshTokenLifetimeSeconds: "Un número entero de segundos dentro del margen indicado.",
    refreshTokenAbsoluteLifetimeSeconds: "Un número entero de segundos dentro del margen indicado.",
    refreshTokenGraceSeconds: "Un número entero de segundos dentro del margen indicado.",
    tokenEndpointAuthMethod: "Esta aplicación no puede autenticarse así.",
    jwks: "Solo claves públicas, como conjunto JWK, cada una con su kid. Una firma necesita claves aquí o en una dirección, no ambas cosas.",
    jwksUri: "Una dirección https, y ninguna clave en el campo de arriba.",
    tlsClientAuthSanUri: "Una dirección completa, y solo junto con el certificado de un dispositivo.",
    signingPoolId: "No existe ese grupo.",
    backchannelLogoutUri:
      "Una dirección https. No se puede usar mientras un grupo de firma firme los tokens.",
    other: "Este valor no se puede usar.",
  },
  reasons: {
    tooLong: "tiene más de 2048 caracteres.",
    printable: "debe ser de letras, cifras y signos corrientes sin espacios.",
    backslash: "no debe llevar una barra invertida.",
    wildcard: "no debe llevar un asterisco: las direcciones se comparan carácter por carácter.",
    fragment: "no debe llevar una almohadilla (#).",
    absolute: "debe ser una dirección completa, por ejemplo https://app.example/callback.",
    userinfo: "no debe llevar nombre de usuario ni contraseña.",
    dotSegments: "no debe llevar . ni .. como partes de su ruta.",
    host: "su servidor debe ser un nombre sencillo.",
    https: "debe ser https. El http corriente es solo para este ordenador.",
    privateUse: "los esquemas propios son para aplicaciones de escritorio y móviles.",
    slash: "debe haber una barra tras el esquema.",
    normalForm: "los navegadores la escribirían de otra forma: en minúsculas, sin el puerto habitual.",
    plain: "debe ser una dirección https corriente, o http en este ordenador.",
  },
};
