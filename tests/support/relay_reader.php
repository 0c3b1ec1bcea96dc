<?php
// Reads events by the original's own class: php relay_reader.php CLASS PORT NAME SECRET TABLE COUNT
[, $class, $port, $name, $secret, $table, $count] = $argv;
require $class;
$client = new RelayClient();
$client->connect("127.0.0.1", (int) $port);
$client->auth($name, FNV1AQ($secret)) || exit("not let in\n");
$client->reqfilter(REPRELAYREQ_INSERT, "public", $table, 0, 0) || exit("no filter\n");
echo "ready\n";
for ($seen = 0; $seen < (int) $count;) {
    if ($event = $client->poll()) {
        $seen++;
        $values = array_map(fn($column) => base64_encode($column->after), array_values($event->cols));
        echo json_encode([$event->eventtype, $event->table, $values]), "\n";
    } else {
        usleep(20000);
    }
}
