"""The queues as time passes over them, without anybody who asks."""
