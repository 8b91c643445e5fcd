/* How a company's server signs who its customer is: a JWT with HMAC-SHA256, using only the language's standard library.
   The guide contains the same samples (a test compares and runs them). COMPANY and KEY_ID are replaced by the reader's
   own. */
export const SAMPLES = {
  "Node.js": `const { createHmac } = require("node:crypto");
const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
function nexusToken(user) {
  const head = part({ alg: "HS256", typ: "JWT", kid: "KEY_ID" });
  const body = part({ sub: user.id, name: user.name, email: user.email, aud: "COMPANY", exp: Math.floor(Date.now() / 1000) + 1800 });
  const sign = createHmac("sha256", process.env.NEXUS_KEY).update(\`\${head}.\${body}\`).digest("base64url");
  return \`\${head}.\${body}.\${sign}\`;
}
console.log(nexusToken({ id: "ana-7", name: "Ana", email: "ana@example.com" }));`,
  Python: `import hashlib, hmac, json, os, time
from base64 import urlsafe_b64encode

def part(value: bytes) -> str:
    return urlsafe_b64encode(value).rstrip(b"=").decode()

def nexus_token(user: dict) -> str:
    head = part(json.dumps({"alg": "HS256", "typ": "JWT", "kid": "KEY_ID"}).encode())
    body = part(json.dumps({"sub": user["id"], "name": user["name"], "email": user["email"], "aud": "COMPANY", "exp": int(time.time()) + 1800}).encode())
    sign = hmac.new(os.environ["NEXUS_KEY"].encode(), f"{head}.{body}".encode(), hashlib.sha256).digest()
    return f"{head}.{body}.{part(sign)}"

print(nexus_token({"id": "ana-7", "name": "Ana", "email": "ana@example.com"}))`,
  PHP: `<?php
function part($value) { return rtrim(strtr(base64_encode($value), "+/", "-_"), "="); }
function nexus_token($user) {
  $head = part(json_encode(["alg" => "HS256", "typ" => "JWT", "kid" => "KEY_ID"]));
  $body = part(json_encode(["sub" => $user["id"], "name" => $user["name"], "email" => $user["email"], "aud" => "COMPANY", "exp" => time() + 1800]));
  return "$head.$body." . part(hash_hmac("sha256", "$head.$body", getenv("NEXUS_KEY"), true));
}
echo nexus_token(["id" => "ana-7", "name" => "Ana", "email" => "ana@example.com"]);`,
  Ruby: `require "json"
require "openssl"
def part(value) = [value].pack("m0").tr("+/", "-_").delete("=")
def nexus_token(user)
  head = part({ alg: "HS256", typ: "JWT", kid: "KEY_ID" }.to_json)
  body = part({ sub: user[:id], name: user[:name], email: user[:email], aud: "COMPANY", exp: Time.now.to_i + 1800 }.to_json)
  "#{head}.#{body}.#{part(OpenSSL::HMAC.digest("SHA256", ENV.fetch("NEXUS_KEY"), "#{head}.#{body}"))}"
end
puts nexus_token(id: "ana-7", name: "Ana", email: "ana@example.com")`,
  Java: `import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class NexusToken {
  static String part(byte[] value) { return Base64.getUrlEncoder().withoutPadding().encodeToString(value); }
  /* Names that may hold quotes or line ends go through your JSON library. */
  static String of(String id, String name, String email) throws Exception {
    long end = System.currentTimeMillis() / 1000 + 1800;
    String head = part("{\\"alg\\":\\"HS256\\",\\"typ\\":\\"JWT\\",\\"kid\\":\\"KEY_ID\\"}".getBytes("UTF-8"));
    String body = part(String.format("{\\"sub\\":\\"%s\\",\\"name\\":\\"%s\\",\\"email\\":\\"%s\\",\\"aud\\":\\"COMPANY\\",\\"exp\\":%d}", id, name, email, end).getBytes("UTF-8"));
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(System.getenv("NEXUS_KEY").getBytes("UTF-8"), "HmacSHA256"));
    return head + "." + body + "." + part(mac.doFinal((head + "." + body).getBytes("UTF-8")));
  }
  public static void main(String[] arguments) throws Exception { System.out.println(of("ana-7", "Ana", "ana@example.com")); }
}`,
  Shell: `part() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
head=$(printf '{"alg":"HS256","typ":"JWT","kid":"KEY_ID"}' | part)
body=$(printf '{"sub":"ana-7","name":"Ana","email":"ana@example.com","aud":"COMPANY","exp":%d}' $(($(date +%s) + 1800)) | part)
sign=$(printf '%s.%s' "$head" "$body" | openssl dgst -sha256 -hmac "$NEXUS_KEY" -binary | part)
echo "$head.$body.$sign"`,
};
