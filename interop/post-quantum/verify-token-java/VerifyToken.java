// Verifies tokens signed with ML-DSA by a JWKS (RFC 9964), with Bouncy Castle: as ../verify-token does in Go.

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.bouncycastle.crypto.digests.SHAKEDigest;
import org.bouncycastle.pqc.crypto.mldsa.MLDSAParameters;
import org.bouncycastle.pqc.crypto.mldsa.MLDSAPublicKeyParameters;
import org.bouncycastle.pqc.crypto.mldsa.MLDSASigner;

class VerifyToken {
  static final Map<String, MLDSAParameters> SETS =
      Map.of(
          "ML-DSA-44", MLDSAParameters.ml_dsa_44,
          "ML-DSA-65", MLDSAParameters.ml_dsa_65,
          "ML-DSA-87", MLDSAParameters.ml_dsa_87);

  public static void main(String[] parameters) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(parameters[0])).build();
    var jwks = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
    var keys = new HashMap<String, String>();
    for (var jwk : jwks.split("(?<=\\}),")) {
      if (!"AKP".equals(member(jwk, "kty"))) continue;
      var canonical = "{\"alg\":\"" + member(jwk, "alg") + "\",\"kty\":\"AKP\",\"pub\":\"" + member(jwk, "pub") + "\"}";
      var thumbprint = MessageDigest.getInstance("SHA-256").digest(canonical.getBytes(StandardCharsets.UTF_8));
      var kid = Base64.getUrlEncoder().withoutPadding().encodeToString(thumbprint);
      if (member(jwk, "priv") != null || !kid.equals(member(jwk, "kid"))) fail("a key with its seed or another name");
      keys.put(kid, jwk);
    }
    var tokens = new String(System.in.readAllBytes(), StandardCharsets.UTF_8);
    for (var name : new String[] {"access_token", "id_token"}) {
      var token = member(tokens, name);
      if (token != null) System.out.println(name + " " + verify(token, member(tokens, "access_token"), keys));
    }
  }

  static String verify(String token, String accessToken, Map<String, String> keys) {
    var parts = token.split("\\.");
    var header = text(parts[0]);
    var alg = member(header, "alg");
    var jwk = keys.get(member(header, "kid"));
    if (jwk == null || !SETS.containsKey(alg) || !alg.equals(member(jwk, "alg"))) fail("no such key");
    var signed = (parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII);
    var signer = new MLDSASigner();
    // Without a context (RFC 9964 §4).
    signer.init(false, new MLDSAPublicKeyParameters(SETS.get(alg), bytes(member(jwk, "pub"))));
    signer.update(signed, 0, signed.length);
    if (!signer.verifySignature(bytes(parts[2]))) fail("the signature does not verify");
    var claims = text(parts[1]);
    var expected = member(claims, "at_hash");
    if (expected != null && !expected.equals(atHash(accessToken))) fail("at_hash is another token's");
    return alg + " " + member(claims, "iss");
  }

  /** The left half of 64 bytes of SHAKE256. */
  static String atHash(String token) {
    var shake = new SHAKEDigest(256);
    var input = token.getBytes(StandardCharsets.US_ASCII);
    shake.update(input, 0, input.length);
    var half = new byte[32];
    shake.doFinal(half, 0, half.length);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(half);
  }

  static byte[] bytes(String part) {
    return Base64.getUrlDecoder().decode(part);
  }

  static String text(String part) {
    return new String(bytes(part), StandardCharsets.UTF_8);
  }

  /** A text of an object; the JDK has no reader of JSON. */
  static String member(String json, String name) {
    var found = Pattern.compile("\"" + name + "\":\"([^\"\\\\]*)\"").matcher(json);
    return found.find() ? found.group(1) : null;
  }

  static void fail(String why) {
    System.err.println(why);
    System.exit(1);
  }
}
