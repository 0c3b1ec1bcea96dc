"""How a JVM of the tests is started, which lives for seconds or minutes."""

# Most of a short life of Java is spent on compiling well what runs once.
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
