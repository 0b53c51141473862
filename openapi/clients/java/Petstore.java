import com.google.gson.*;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.*;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.time.*;
import java.time.format.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.*;
import java.util.regex.*;
import java.util.stream.*;

/** The pet store in Java 17, with Gson: long is exact. */
public class Petstore {
  static final String ORIGIN = "(https?://(?:[\\w.-]+|\\[[\\da-fA-F:.]+\\])(?::\\d+)?(?:/[\\w.~-]+)*?)(?:/v1)?/*";
  static final Pattern NEXT = Pattern.compile("<[^>?]*(?:(\\?[\\w.~%&=+-]+)|[^>]*)>[^<]*\\brel=\"?next\\b");
  static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern( // one of three forms (RFC 9110, section 5.6.7)
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

    PetstoreException(ErrorBody error, String request, double retryAfter, Throwable cause) {
      super((error.status + " " + error.code + ": " + error.message + " (request " + request + ")").replaceAll("\\p{Cc}", " "), cause);
      this.status = error.status;
      this.code = error.code;
      this.requestId = request;
      this.retryAfter = retryAfter;
    }
  }

  private record ErrorBody(int status, String code, String message) {}
  private record Reply<T>(T body, HttpHeaders headers) {}

  /** Of each request: so many attempts, in so much time each, and in total with the waits between them. */
  public int attempts = 6;
  public Duration timeout = Duration.ofSeconds(10), total = Duration.ofMinutes(2);
  final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build(); // without redirects
  final Gson gson = new Gson();
  final String pets, key;

  /** url is where the service is: https://petstore.example */
  public Petstore(String url, String key) {
    if (!url.matches(ORIGIN) || !key.matches("[!-~]+"))
      throw new IllegalArgumentException("The URL must be like https://petstore.example, the API key visible ASCII characters");
    this.pets = url.replaceFirst("^" + ORIGIN + "$", "$1/v1/pets");
    this.key = key;
  }

  /** Adds an animal. once is a UUID of yours: sent again with it, also by another run, the animal is added once. */
  public Pet add(Pet pet, String once) throws InterruptedException {
    if (!once.matches("[!-~]+")) throw new IllegalArgumentException("once must have visible ASCII characters only");
    var body = HttpRequest.BodyPublishers.ofString(gson.toJson(pet));
    return send(HttpRequest.newBuilder(URI.create(pets)).header("Idempotency-Key", once).POST(body), 201, Petstore::toPet).body;
  }

  /** Every animal, or those with this status if it is not null: each page names the next one in its Link header. */
  public void list(String status, Consumer<Pet> use) throws InterruptedException {
    String query = "?limit=100" + (status == null ? "" : "&status=" + status);
    for (Set<String> read = new HashSet<>(Set.of("", query)); query != null; ) {
      var reply = send(HttpRequest.newBuilder(URI.create(pets + query)), 200, json ->
          StreamSupport.stream(json.getAsJsonArray().spliterator(), false).map(Petstore::toPet).toList());
      reply.body.forEach(use);
      Matcher next = NEXT.matcher(String.join(", ", reply.headers.allValues("Link")));
      query = next.find() ? Objects.requireNonNullElse(next.group(1), "") : null;
      String id = reply.headers.firstValue("X-Request-Id").orElse(null);
      if (!read.add(query)) throw new PetstoreException(new ErrorBody(200, "bad_answer", "The next page was read before."), id, 0, null);
    }
  }

  private <T> Reply<T> send(HttpRequest.Builder request, int status, Function<JsonElement, T> read) throws InterruptedException {
    request.setHeader("Authorization", "Bearer " + key).setHeader("Content-Type", "application/json");
    long end = System.nanoTime() + total.toNanos();
    for (long attempt = 1, wait = 500; ; attempt++, wait *= 2) { // at most half a second before the second attempt
      try {
        return attempt(request.build(), Math.min(timeout.toNanos(), end - System.nanoTime()), status, read);
      } catch (PetstoreException failure) {
        double pause = failure.retryAfter + ThreadLocalRandom.current().nextLong(wait / 2, wait);
        if (attempt >= attempts || pause * 1e6 >= end - System.nanoTime()) throw failure;
        Thread.sleep((long) pause);
      }
    }
  }

  private <T> Reply<T> attempt(HttpRequest request, long time, int status, Function<JsonElement, T> read) throws InterruptedException {
    var head = new HttpResponse.ResponseInfo[1];
    var bytes = new ByteArrayOutputStream();
    Throwable cause = null;
    ErrorBody error = null;
    var sent = client.sendAsync(request, info -> {
      head[0] = info;
      return HttpResponse.BodySubscribers.ofByteArrayConsumer(piece -> {
        if (bytes.size() > 10_000_000) throw new IllegalStateException("The answer is too long.");
        piece.ifPresent(bytes::writeBytes);
      });
    });
    try {
      sent.get(time, TimeUnit.NANOSECONDS);
      String text = bytes.toString(StandardCharsets.UTF_8);
      if (head[0].statusCode() == status && Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes.toByteArray()))
        return new Reply<>(read.apply(JsonParser.parseString(text)), head[0].headers());
      error = gson.fromJson(text.replace(key, "[key]"), ErrorBody.class); // A gateway's page may show the request.
    } catch (ExecutionException | TimeoutException | RuntimeException broken) {
      cause = broken instanceof RuntimeException ? null : broken; // It has the text of what is none of the service.
    } finally {
      sent.cancel(true);
    }
    int got = head[0] == null ? 0 : head[0].statusCode();
    Function<String, Optional<String>> header = name -> Optional.ofNullable(head[0]).flatMap(info -> info.headers().firstValue(name));
    if (got < 400 || error == null || error.status != got || error.code == null || error.message == null) {
      String shown = bytes.toString(StandardCharsets.UTF_8).replace(key, "[key]");
      String why = String.format("The answer is none of the service, or not whole. It begins: %.200s", shown);
      error = got == 0 ? new ErrorBody(0, "no_answer", String.valueOf(cause)) : new ErrorBody(got, "bad_answer", why);
    }
    boolean isHopeless = Stream.iterate(cause, Objects::nonNull, Throwable::getCause) // no such server, or a certificate of another
        .anyMatch(each -> each instanceof UnresolvedAddressException || each instanceof java.security.cert.CertificateException);
    boolean isFinal = got == 0 ? isHopeless : got >= 300 && !Set.of(408, 429, 500, 502, 503, 504).contains(got);
    double retryAfter = isFinal ? 1 / 0.0 : toWait(header.apply("Retry-After").orElse(""));
    throw new PetstoreException(error, header.apply("X-Request-Id").orElse(null), retryAfter, cause);
  }

  /** Gson itself takes null, no field, texts and 2^63 for a long: the animal must be written as it was read. */
  private static Pet toPet(JsonElement json) {
    Pet pet = new Gson().fromJson(json, Pet.class);
    JsonObject read = json.getAsJsonObject(), written = new Gson().toJsonTree(pet).getAsJsonObject();
    for (String name : List.of("id", "name", "categoryId", read.has("status") ? "status" : "id"))
      if (!written.get(name).toString().equals(read.get(name).toString())) throw new JsonParseException(name);
    return pet;
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
