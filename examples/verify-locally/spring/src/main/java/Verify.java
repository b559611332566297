import java.time.Duration;
import java.util.List;
import java.util.Scanner;
import org.springframework.security.oauth2.core.DelegatingOAuth2TokenValidator;
import org.springframework.security.oauth2.jose.jws.SignatureAlgorithm;
import org.springframework.security.oauth2.jwt.BadJwtException;
import org.springframework.security.oauth2.jwt.JwtClaimValidator;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtException;
import org.springframework.security.oauth2.jwt.JwtIssuerValidator;
import org.springframework.security.oauth2.jwt.JwtTimestampValidator;
import org.springframework.security.oauth2.jwt.JwtTypeValidator;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;

/** Verifies access tokens of svc, one a line of the standard input. */
public class Verify {
    /** In an application with Spring Boot this is a bean, and the resource server uses it. */
    static JwtDecoder jwtDecoder(String issuer, String svcUrl) {
        var decoder = NimbusJwtDecoder.withJwkSetUri(svcUrl + "/auth/.well-known/jwks.json")
            .jwsAlgorithm(SignatureAlgorithm.ES256)
            .validateType(false) // The decoder itself takes JWT only; the validator below wants at+jwt.
            .build();
        decoder.setJwtValidator(new DelegatingOAuth2TokenValidator<>(
            new JwtTypeValidator(List.of("at+jwt")),
            new JwtIssuerValidator(issuer),
            new JwtClaimValidator<List<String>>("aud", audience -> audience != null && audience.contains("app")),
            new JwtClaimValidator<Object>("exp", expiry -> expiry != null),
            new JwtTimestampValidator(Duration.ofSeconds(30))));
        return decoder;
    }

    public static void main(String[] args) {
        var issuer = System.getenv("SVC_BASE_URL");
        var decoder = jwtDecoder(issuer, System.getenv().getOrDefault("SVC_URL", issuer));
        for (var lines = new Scanner(System.in); lines.hasNextLine(); ) {
            try {
                System.out.println("good " + decoder.decode(lines.nextLine()).getSubject());
            } catch (BadJwtException error) {
                System.out.println("refused " + error.getMessage());
            } catch (JwtException error) {
                System.out.println("unavailable " + error.getMessage());
            }
        }
    }
}
