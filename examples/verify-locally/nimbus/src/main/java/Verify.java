import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import java.net.URI;
import java.text.ParseException;
import java.util.Scanner;
import java.util.Set;

/** Verifies access tokens of svc, one a line of the standard input. */
public class Verify {
    static DefaultJWTProcessor<SecurityContext> verifier(String issuer, String svcUrl) throws Exception {
        var keys = JWKSourceBuilder.create(URI.create(svcUrl + "/auth/.well-known/jwks.json").toURL())
            .cache(60_000, 5_000)
            .build();
        var processor = new DefaultJWTProcessor<SecurityContext>();
        processor.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(new JOSEObjectType("at+jwt")));
        processor.setJWSKeySelector(new JWSVerificationKeySelector<>(JWSAlgorithm.ES256, keys));
        var expected = new JWTClaimsSet.Builder().issuer(issuer).build();
        processor.setJWTClaimsSetVerifier(new DefaultJWTClaimsVerifier<>("app", expected, Set.of("sub", "sid", "exp")));
        return processor;
    }

    public static void main(String[] args) throws Exception {
        var issuer = System.getenv("SVC_BASE_URL");
        var verifier = verifier(issuer, System.getenv().getOrDefault("SVC_URL", issuer));
        for (var lines = new Scanner(System.in); lines.hasNextLine(); ) {
            try {
                System.out.println("good " + verifier.process(lines.nextLine(), null).getSubject());
            } catch (KeySourceException error) {
                System.out.println("unavailable " + error.getMessage());
            } catch (ParseException | BadJOSEException | JOSEException error) {
                System.out.println("refused " + error.getMessage());
            }
        }
    }
}
