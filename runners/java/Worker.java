import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Functions of your own in Java as contenders: fathom own 'java runners/java/Worker.java'. Speaks the
 * protocol of docs/protocol.md. Replace what is in BENCHES, by "group/name"; what they return is the
 * check. A function is run until it stops getting faster; the metrics say how long that took.
 */
final class Worker {
  private static final Map<String, LongSupplier> BENCHES = Map.of("xorshift/java", Worker::xorshift);

  /** 10,000 steps of xorshift32 (Marsaglia 2003), as in the examples in other languages. */
  private static long xorshift() {
    int x = 1;
    for (int i = 0; i < 10_000; i++) {
      x ^= x << 13;
      x ^= x >>> 17;
      x ^= x << 5;
    }
    return Integer.toUnsignedLong(x);
  }

  /** 64-bit FNV-1a of the number's eight bytes, least significant first. */
  private static String digest(long number) {
    long value = 0xcbf29ce484222325L;
    for (int i = 0; i < 64; i += 8) value = (value ^ (number >>> i & 255)) * 0x100000001b3L;
    return String.format(Locale.ROOT, "%016x", value);
  }

  private static volatile long answer;

  private static long timed(LongSupplier run, long iterations) {
    long last = 0, begin = System.nanoTime();
    for (long i = 0; i < iterations; i++) last = run.getAsLong();
    answer = last;
    return System.nanoTime() - begin;
  }

  /** Runs batches until twenty in a row are none of them 2 % faster than the best, for 5 s at most. */
  private static String warmedUp(LongSupplier run) {
    long best = Long.MAX_VALUE, total = 0, runs = 0;
    for (int quiet = 0; quiet < 20 && total < 5_000_000_000L; runs += 100) {
      long batch = timed(run, 100);
      quiet = batch < best * 0.98 ? 0 : quiet + 1;
      best = Math.min(best, batch);
      total += batch;
    }
    String form = "{\"name\":\"warm-up ms\",\"value\":%d.%03d},{\"name\":\"warm-up runs\",\"value\":%d}";
    return String.format(Locale.ROOT, form, total / 1_000_000, total / 1_000 % 1_000, runs);
  }

  /** What stands behind a name in a request; names are those we offered and need no escapes. */
  private static String of(String line, String name) {
    var found = Pattern.compile("\"" + name + "\":\"?([^\",}]*)").matcher(line);
    return found.find() ? found.group(1) : "";
  }

  private static String hello() {
    String head = "{\"answer\":\"hello\",\"protocol\":1,\"program\":\"Java " + Runtime.version();
    return BENCHES.keySet().stream()
        .map(name -> "{\"family\":\"" + name.replace("/", "\",\"name\":\"") + "\"}")
        .collect(Collectors.joining(",", head + "\",\"contenders\":[", "]}"));
  }

  public static void main(String[] arguments) throws Exception {
    var threads = ManagementFactory.getThreadMXBean();
    var input = new BufferedReader(new InputStreamReader(System.in));
    LongSupplier open = null;
    String metrics = "";
    for (String line; (line = input.readLine()) != null; ) {
      String reply = "{\"answer\":\"error\",\"message\":\"not understood, or nothing is open\"}";
      String ask = of(line, "ask");
      if (ask.equals("hello")) reply = hello();
      if (ask.equals("open")) {
        boolean isEmpty = of(line, "contender").equals("null");
        open = isEmpty ? () -> 0 : BENCHES.get(of(line, "family") + "/" + of(line, "contender"));
        if (open != null && !isEmpty) metrics = warmedUp(open);
        reply = open != null ? "{\"answer\":\"opened\"}" : "{\"answer\":\"unsupported\",\"reason\":\"not here\"}";
      }
      if (ask.equals("sample") && open != null) {
        timed(open, Long.parseLong(of(line, "warm")));
        long cpu = threads.getCurrentThreadCpuTime();
        long wall = timed(open, Long.parseLong(of(line, "iterations")));
        cpu = threads.getCurrentThreadCpuTime() - cpu;
        String form = "{\"answer\":\"sample\",\"wall_ns\":%d,\"cpu_ns\":%d,\"check\":\"%s\"}";
        reply = String.format(Locale.ROOT, form, wall, cpu, digest(answer));
      }
      if (ask.equals("metrics")) reply = "{\"answer\":\"metrics\",\"metrics\":[" + metrics + "]}";
      if (ask.equals("close")) reply = "{\"answer\":\"closed\"}";
      System.out.println(reply);
    }
  }
}
