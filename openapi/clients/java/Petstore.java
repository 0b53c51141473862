import com.google.gson.*;
import java.net.URI;
import java.net.http.*;
import java.nio.channels.UnresolvedAddressException;
import java.security.cert.CertificateException;
import java.time.*;
import java.time.format.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.regex.*;
import java.util.stream.Stream;

/** The pet store in Java 17, with Gson: long is exact. */
public class Petstore {
  static final int ATTEMPTS = 6; // of each request, the first one included
  static final int TIMEOUT = 10_000; // milliseconds, of each attempt
  static final int FIRST_WAIT = 500; // milliseconds before the second attempt; each further wait is twice as long
  static final int LONGEST_WAIT = 60_000; // milliseconds; who is told to wait for longer gets the error instead
  static final Set<Integer> PASSING = Set.of(200, 201, 408, 429, 500, 502, 503, 504); // all others are final
  static final Pattern NEXT = Pattern.compile("(\\?[^>]*)>; rel=\"next\"");
  /** A date has one of three forms (RFC 9110, section 5.6.7). */
  static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern(
      "[EEE, dd MMM yyyy HH:mm:ss 'GMT'][EEEE, dd-MMM-yy HH:mm:ss 'GMT'][EEE MMM ppd HH:mm:ss yyyy]", Locale.US);

  public static class Pet {
    public Long id, categoryId;
    public String name, status;
  }

  /** Of the service, or no_answer (status 0) and bad_answer where it did not speak. Report the request id. */
  public static class PetstoreException extends RuntimeException {
    public final int status;
    public final String code, requestId;
    public final double retryAfter; // in milliseconds; infinite where another attempt would fail, too

    PetstoreException(int status, Told told, String requestId, double retryAfter) {
      super(status + " " + told.code + ": " + told.message + " (request " + requestId + ")");
      this.status = status;
      this.code = told.code;
      this.requestId = requestId;
      this.retryAfter = retryAfter;
    }
  }

  private record Told(String code, String message) {}
  private record Page<T>(T body, String next) {}

  final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build(); // without redirects
  final Gson gson = new Gson();
  final String pets, key;

  public Petstore(String url, String key) {
    this.pets = url + "/v1/pets";
    this.key = key;
  }

  /** Adds an animal. once is a UUID of yours: sent again with it, also by another run, the animal is added once. */
  public Pet add(Pet pet, String once) throws InterruptedException {
    var body = HttpRequest.BodyPublishers.ofString(gson.toJson(pet));
    return send(HttpRequest.newBuilder(URI.create(pets)).header("Idempotency-Key", once).POST(body), Pet.class).body;
  }

  /** Every animal: each page names the next one in its Link header. query is "?limit=100&status=sold", or empty. */
  public void list(String query, java.util.function.Consumer<Pet> use) throws InterruptedException {
    for (Page<Pet[]> page; query != null; query = page.next) {
      page = send(HttpRequest.newBuilder(URI.create(pets + query)), Pet[].class);
      for (Pet pet : page.body) use.accept(pet);
    }
  }

  private <T> Page<T> send(HttpRequest.Builder request, Class<T> type) throws InterruptedException {
    request.setHeader("Authorization", "Bearer " + key).setHeader("Content-Type", "application/json");
    for (long wait = FIRST_WAIT; ; wait *= 2) {
      try {
        return attempt(request.build(), type);
      } catch (PetstoreException failure) {
        if (failure.retryAfter > LONGEST_WAIT || wait == FIRST_WAIT << (ATTEMPTS - 1)) throw failure;
        Thread.sleep((long) failure.retryAfter + ThreadLocalRandom.current().nextLong(wait / 2, wait));
      }
    }
  }

  private <T> Page<T> attempt(HttpRequest request, Class<T> type) throws InterruptedException {
    var sent = client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    try {
      var reply = sent.get(TIMEOUT, TimeUnit.MILLISECONDS);
      int status = reply.statusCode();
      T body = status < 300 ? parse(reply.body(), type) : null;
      Matcher next = NEXT.matcher(reply.headers().firstValue("Link").orElse(""));
      if (body != null) return new Page<>(body, next.find() ? next.group(1) : null);
      Told told = status < 300 ? null : parse(reply.body(), Told.class);
      if (told == null || told.code == null) told = new Told("bad_answer", "The answer is none of the service.");
      double retryAfter = PASSING.contains(status) ? toWait(reply.headers().firstValue("Retry-After").orElse("")) : 1 / 0.0;
      throw new PetstoreException(status, told, reply.headers().firstValue("X-Request-Id").orElse(null), retryAfter);
    } catch (ExecutionException | TimeoutException broken) {
      sent.cancel(true);
      boolean isFinal = Stream.iterate((Throwable) broken, Objects::nonNull, Throwable::getCause)
          .anyMatch(cause -> cause instanceof UnresolvedAddressException || cause instanceof CertificateException);
      throw new PetstoreException(0, new Told("no_answer", broken.toString()), null, isFinal ? 1 / 0.0 : 0);
    }
  }

  private <T> T parse(String json, Class<T> type) {
    try {
      return gson.fromJson(json, type);
    } catch (JsonParseException broken) {
      return null;
    }
  }

  private static double toWait(String retryAfter) {
    try {
      if (retryAfter.matches("[0-9]+")) return 1000 * Double.parseDouble(retryAfter);
      return Math.max(0, 1000 * LocalDateTime.parse(retryAfter, DATE).toEpochSecond(ZoneOffset.UTC) - System.currentTimeMillis());
    } catch (DateTimeParseException none) {
      return 0;
    }
  }
}
