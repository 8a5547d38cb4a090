"""The fixtures of the other tests here do what they are for: a standby follows, and takes over."""

from tests.plugins.postgres_pairs import ServerPair


def test_a_standby_follows_and_takes_over(server_pair: ServerPair) -> None:
    server_pair.primary.run("CREATE TABLE a (b bigint)")
    server_pair.primary.run("INSERT INTO a VALUES (1)")
    server_pair.wait_for_replay()
    assert server_pair.standby.run("SELECT b FROM a") == [(1,)]
    server_pair.primary.kill()
    server_pair.standby.promote()
    server_pair.standby.run("INSERT INTO a VALUES (2)")
    assert server_pair.standby.run("SELECT count(*) FROM a") == [(2,)]
