// Records as a Qt model (Qt 6, Core only): a table of millions of rows, with the values of each as a tree
// beneath it. Only the rows that are shown are in memory. Link silverpoint::logger (CMake) or -lsilverpoint.
//
//     silverpoint::qt::records_model model;
//     QString error;
//     if (!model.open({"app.silver"}, {.follow = true}, &error)) …
//     QTableView view;
//     view.setModel(&model);
//     if (!model.set_filter("-l warn", &error)) …               // as silverpoint cat takes it, or "id=7"
//
// A thread of the model numbers and fetches records; rows are inserted as they come. A row that is not
// fetched yet is empty, and dataChanged announces it when it is there. So the GUI thread does not wait. The
// exceptions: opening files, and destroying the model while a piece is just being read. Where empty rows are
// not acceptable (exports, tests), set_waiting(true) makes data() wait.
//
// Use everything in the thread in which the model was made.
#pragma once

#include <QtCore/QAbstractItemModel>
#include <QtCore/QDateTime>
#include <QtCore/QStringList>
#include <QtCore/QUuid>
#include <QtCore/QVariant>
#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model_reader.hpp"
#include "model_values.hpp"
#include "silverpoint/reader.hpp"

namespace silverpoint::qt {

/// See the head of this file.
/// Thread-safe: the thread that made it. Cost: rows that were fetched are in memory; a thread of the model
/// reads the others.
class records_model : public QAbstractItemModel {
  public:
    /// Columns of records. The values beneath have three: name, value, type.
    enum column { time, level, category, process, thread, message, place, function, columns };
    /// Besides Qt::DisplayRole (text) and Qt::ToolTipRole (times with their date, places with their
    /// directories, messages; see tip()).
    enum role {
        /// The content, typed: a QDateTime, a number, a QString; values may also be lists and maps of these.
        /// A map in which a key occurs twice is a list of pairs, each a list of key and value.
        value_role = Qt::UserRole + 1,
        /// In each column of a record: its level, 0 trace to 5 fatal.
        level_role,
        /// In each column of a record: nanoseconds since 1970-01-01T00:00Z, as a qlonglong.
        ns_role,
        /// Of a value: its unit.
        unit_role
    };

    explicit records_model(QObject* parent = nullptr) : QAbstractItemModel(parent) {}

    /// Opens files, in place of what was open. False: the text has the reason, and everything is as before.
    bool open(const QStringList& files, reading::options how = {}, QString* error = nullptr) {
        return use_if(static_cast<open_call>(&reading::reader::open), files, how, error);
    }
    /// Observes running programs: process ids, or patterns of processes' names; none: all that record.
    bool open_live(const QStringList& targets, reading::options how = {}, QString* error = nullptr) {
        return use_if(static_cast<open_call>(&reading::reader::live), targets, how, error);
    }
    /// Shows the records of a reader that was opened elsewhere: in a thread, if that takes long.
    void use(reading::reader reader) {
        is_changing_ = true;
        beginResetModel();
        // A filter that was set before anything was open applies to what is opened first.
        if (reader_) {
            filter_.clear();
            reader_->end();
            reader_.release()->deleteLater();  // it may be what is calling us
        }
        forget();
        untold_ = {};
        state_ = reading::state::more;
        reader_ = std::make_unique<detail::model_reader>(std::move(reader), generation_,
                                                         [this] { take(reader_->take()); });
        if (!filter_.isEmpty()) reader_->filter(filter_.toStdString(), generation_);
        end_reset();
    }

    /// Shows only what a filter selects: `-l warn -c net`, as silverpoint cat takes it, or an expression.
    /// Rows come as they are found. If nothing is open yet, the filter applies to what is opened first.
    /// False: the text says what is wrong and where, and everything is as before.
    bool set_filter(const QString& filter, QString* error = nullptr) {
        std::string why;
        if (!reading::check_filter(filter.toStdString(), why)) {
            if (error != nullptr) *error = detail::string_of(why);
            return false;
        }
        if (filter == filter_) return true;
        if (!reader_) {
            filter_ = filter;
            return true;
        }
        is_changing_ = true;
        beginResetModel();
        forget();
        filter_ = filter;
        state_ = reading::state::more;
        reader_->filter(filter.toStdString(), generation_);
        end_reset();
        return true;
    }
    [[nodiscard]] QString filter() const { return filter_; }

    /// Whether there are more to be numbered, or more may come.
    [[nodiscard]] reading::state state() const { return state_; }
    /// Whether data() waits for what has not been fetched.
    void set_waiting(bool waits) { waits_ = waits; }
    /// Called whenever rows or the state have changed, and with reports of missing or damaged data.
    void on_change(std::function<void(const QStringList& messages)> call) { on_change_ = std::move(call); }
    /// Whether the record of a row has been fetched.
    [[nodiscard]] bool is_fetched(int row) const { return find(row) != nullptr; }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override {
        if (!parent.isValid()) return rows_;
        if (parent.column() != 0) return 0;
        const detail::shape* shape = shape_of(row_of(parent));
        if (shape == nullptr) return 0;
        return static_cast<int>(within(*shape, parent).size());
    }
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() ? 3 : columns;
    }
    /// A record may always have values beneath it. Whether it has any is known when they were fetched, or
    /// cannot be fetched any more.
    [[nodiscard]] bool hasChildren(const QModelIndex& parent = {}) const override {
        if (!parent.isValid()) return rows_ > 0;
        if (parent.column() != 0) return false;
        if (is_record(parent) && shape_of(parent.row()) == nullptr) return !is_lost(parent.row());
        return rowCount(parent) > 0;
    }
    [[nodiscard]] bool canFetchMore(const QModelIndex& parent) const override {
        return parent.isValid() && parent.column() == 0 && is_record(parent) &&
               shape_of(parent.row()) == nullptr && !is_lost(parent.row());
    }
    /// Fetches the values of a record; they are inserted when they are there. The values of 10,000 records
    /// are kept. Beyond that the ones that were fetched first are removed, and can be fetched again. Those
    /// with a persistent index stay (views hold one for what is unfolded or selected).
    void fetchMore(const QModelIndex& parent) override {
        if (!canFetchMore(parent)) return;
        auto run = wanted(parent.row());
        // Not allowed within another change that is just being announced.
        if (run && !is_changing_) return insert_shape(parent.row(), *run);
        if (!run && is_lost(parent.row())) return;
        if (std::find(awaited_.begin(), awaited_.end(), parent.row()) == awaited_.end())
            awaited_.push_back(parent.row());
        if (run) reader_->poke();
    }

    [[nodiscard]] QModelIndex index(int row, int at, const QModelIndex& parent = {}) const override {
        if (row < 0 || at < 0 || at >= columnCount(parent) || row >= rowCount(parent)) return {};
        if (!parent.isValid()) return createIndex(row, at, quintptr{0});
        const detail::shape& shape = *shape_of(row_of(parent));
        return createIndex(row, at,
                           id_of(row_of(parent), within(shape, parent)[static_cast<std::size_t>(row)]));
    }
    [[nodiscard]] QModelIndex parent(const QModelIndex& child) const override {
        if (!child.isValid() || is_record(child)) return {};
        const detail::shape* shape = shape_of(row_of(child));
        if (shape == nullptr) return {};
        const int above = shape->nodes[static_cast<std::size_t>(node_of(child))].parent;
        if (above < 0) return createIndex(row_of(child), 0, quintptr{0});
        return createIndex(shape->nodes[static_cast<std::size_t>(above)].row, 0, id_of(row_of(child), above));
    }

    [[nodiscard]] QVariant data(const QModelIndex& index, int of = Qt::DisplayRole) const override {
        if (!index.isValid()) return {};
        if (!is_record(index)) {
            const detail::shape* shape = shape_of(row_of(index));
            return shape == nullptr ? QVariant() : data_of(shape->value(node_of(index)), index, of);
        }
        if (of != Qt::DisplayRole && of != Qt::ToolTipRole && (of < value_role || of > ns_role)) return {};
        const auto run = wanted(index.row());
        if (!run) return {};
        return data_of(
            run->records[static_cast<std::size_t>(static_cast<std::uint64_t>(index.row()) - run->first)],
            index.column(), of);
    }

    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                      int of = Qt::DisplayRole) const override {
        if (of != Qt::DisplayRole) return {};
        if (orientation == Qt::Vertical) return section;
        static const char* const names[] = {"Time",   "Level",   "Category", "Process",
                                            "Thread", "Message", "Place",    "Function"};
        return section >= 0 && section < columns ? QVariant(QLatin1String(names[section])) : QVariant();
    }

    /// A text as a tool tip: the beginning of a long one. Qt takes texts with tags for rich text. So a text
    /// with `<` becomes HTML that shows it. Other texts stay as they are.
    [[nodiscard]] static QString tip(QString text) {
        if (text.size() > tip_most)
            text = text.left(tip_most - (text.at(tip_most - 1).isHighSurrogate() ? 1 : 0)) + QChar(0x2026);
        if (!text.contains(QLatin1Char('<')) && !text.contains(QLatin1String("&lt;"))) return text;
        return QLatin1String("<span style='white-space:pre-wrap'>") + text.toHtmlEscaped() +
               QLatin1String("</span>");
    }

  private:
    using open_call = reading::reader (*)(const std::vector<std::string>&, reading::options, std::string&);
    // Runs that are kept; each has a few hundred records, or 16 MiB.
    static constexpr std::size_t runs_most = 48;
    // Records whose values were fetched, except those with a persistent index.
    static constexpr std::size_t shapes_most = 10'000;
    // Characters of a tool tip.
    static constexpr int tip_most = 500;
    static_assert(sizeof(quintptr) == 8, "an index names a record and a value in it");

    // Indexes: 0 of a record; of a value the row of its record and its own number.
    static quintptr id_of(int row, int node) {
        return static_cast<quintptr>(row) << 32 | (static_cast<quintptr>(node) + 1);
    }
    static bool is_record(const QModelIndex& index) { return index.internalId() == 0; }
    static int node_of(const QModelIndex& index) {
        return static_cast<int>(index.internalId() & 0xFFFF'FFFF) - 1;
    }
    static int row_of(const QModelIndex& index) {
        return is_record(index) ? index.row() : static_cast<int>(index.internalId() >> 32);
    }

    static const std::vector<int>& within(const detail::shape& shape, const QModelIndex& parent) {
        return is_record(parent) ? shape.top
                                 : shape.nodes[static_cast<std::size_t>(node_of(parent))].children;
    }
    [[nodiscard]] const detail::shape* shape_of(int row) const {
        const auto known = shapes_.find(row);
        return known == shapes_.end() ? nullptr : known->second.get();
    }

    bool use_if(open_call call, const QStringList& texts, reading::options how, QString* error) {
        std::vector<std::string> all;
        for (const QString& text : texts) all.push_back(text.toStdString());
        std::string why;
        reading::reader reader = call(all, how, why);
        if (!reader) {
            if (error != nullptr) *error = detail::string_of(why);
            return false;
        }
        use(std::move(reader));
        return true;
    }

    void end_reset() {
        endResetModel();
        is_changing_ = false;
    }
    void forget() {
        rows_ = 0;
        ++generation_;
        runs_.clear();
        shapes_.clear();
        opened_.clear();
        awaited_.clear();
        lost_.clear();
        untold_.runs.clear();
    }

    // The run with a row, if it is there.
    [[nodiscard]] std::shared_ptr<const detail::run> find(int row) const {
        const auto number = static_cast<std::uint64_t>(row);
        for (auto at = runs_.begin(); at != runs_.end(); ++at)
            if ((*at)->first <= number && number < (*at)->end()) {
                runs_.splice(runs_.begin(), runs_, at);  // used last
                return runs_.front();
            }
        return nullptr;
    }
    // The same; requests it if it is not there.
    [[nodiscard]] std::shared_ptr<const detail::run> wanted(int row) const {
        if (auto known = find(row)) return known;
        if (!reader_ || row >= rows_) return nullptr;
        for (std::optional<std::uint64_t> before;;) {
            const auto next = next_for(row);
            if (!next || next == before) return nullptr;
            if (!waits_) {
                reader_->want(*next);
                return nullptr;
            }
            keep(reader_->wait_for(*next));
            if (auto come = find(row)) return come;
            before = next;
        }
    }
    // From where to read to get a row that is not there. Nothing: it cannot be read any more.
    [[nodiscard]] std::optional<std::uint64_t> next_for(int row) const {
        const auto number = static_cast<std::uint64_t>(row);
        // The rows beside it will be requested next; if records are large, fewer come at a time.
        const auto begin = number - number % detail::model_reader::run_size;
        std::uint64_t next = begin;
        for (const auto& run : runs_)
            if (run->first <= number && run->first >= begin && run->end() <= number)
                next = std::max(next, run->end());
        if (!lost_.contains(next)) return next;
        // The row before it was lost: this one may be there.
        if (!lost_.contains(number)) return number;
        return std::nullopt;
    }
    [[nodiscard]] bool is_lost(int row) const {
        return !lost_.empty() && lost_.contains(static_cast<std::uint64_t>(row)) && !find(row);
    }
    // Accepts runs. Announcing them, and everything else, waits for the event loop.
    void keep(detail::news got) const {
        for (auto& one : got.messages) untold_.messages.push_back(std::move(one));
        if (got.generation != generation_) return;
        for (const auto& run : got.runs) remember(run);
        for (auto& run : got.runs) untold_.runs.push_back(std::move(run));
    }
    void remember(const std::shared_ptr<const detail::run>& run) const {
        if (run->records.empty()) {
            lost_.insert(run->first);
            return;
        }
        runs_.push_front(run);
        if (runs_.size() > runs_most) runs_.pop_back();
    }

    // In the event loop: announces what the thread reports.
    void take(const detail::news& got) {
        const detail::news before = std::exchange(untold_, {});
        if (got.generation == generation_) show(got, before);
        QStringList messages;
        for (const auto* all : {&before.messages, &got.messages})
            for (const auto& one : *all) messages.append(detail::string_of(one));
        if (on_change_) on_change_(messages);
    }
    void show(const detail::news& got, const detail::news& before) {
        const int count = static_cast<int>(std::min<std::uint64_t>(got.count, INT_MAX));
        // First, since the receiver may set another filter or another reader: then the rest concerns rows
        // that no longer exist.
        state_ = got.state;
        for (const auto& run : got.runs) remember(run);
        if (count > rows_) {
            is_changing_ = true;
            beginInsertRows({}, rows_, count - 1);
            rows_ = count;
            endInsertRows();
            is_changing_ = false;
        }
        for (const auto* runs : {&before.runs, &got.runs})
            for (const auto& run : *runs)
                if (got.generation == generation_) tell(*run);
        if (got.generation == generation_) insert_awaited();
        if (got.generation == generation_) evict();
    }
    void tell(const detail::run& run) {
        // The row of a lost record: it has no values.
        const std::uint64_t end = run.records.empty() ? run.first + 1 : run.end();
        if (end > static_cast<std::uint64_t>(rows_)) return;
        const int first = static_cast<int>(run.first), last = static_cast<int>(end) - 1;
        emit dataChanged(index(first, 0), index(last, columns - 1));
    }
    // Inserts pending values when they are there.
    void insert_awaited() {
        const std::uint64_t generation = generation_;
        for (const int row : std::exchange(awaited_, {})) {
            if (generation != generation_) return;
            if (const auto run = wanted(row))
                insert_shape(row, *run);
            else if (!is_lost(row))
                awaited_.push_back(row);
        }
    }
    void insert_shape(int row, const detail::run& run) {
        if (shape_of(row) != nullptr) return;
        auto shape = std::make_unique<detail::shape>(run, static_cast<std::uint64_t>(row));
        const int count = static_cast<int>(shape->top.size());
        is_changing_ = true;
        if (count > 0) beginInsertRows(index(row, 0), 0, count - 1);
        shapes_.emplace(row, std::move(shape));
        opened_.push_back(row);
        if (count > 0) endInsertRows();
        is_changing_ = false;
        // Not at once: a view fetches while it lays itself out, and must find nothing removed meanwhile.
        if (shapes_.size() > shapes_most) reader_->poke();
    }
    // Removes the values that were fetched first, a tenth at a time.
    void evict() {
        if (shapes_.size() <= shapes_most) return;
        std::unordered_set<int> held;
        for (const QModelIndex& index : persistentIndexList()) held.insert(row_of(index));
        std::deque<int> stay;
        is_changing_ = true;
        while (!opened_.empty() && shapes_.size() > shapes_most / 10 * 9) {
            const int row = opened_.front();
            opened_.pop_front();
            if (held.contains(row)) {
                stay.push_back(row);
                continue;
            }
            const detail::shape* const shape = shape_of(row);
            if (shape == nullptr) continue;
            const int count = static_cast<int>(shape->top.size());
            if (count > 0) beginRemoveRows(index(row, 0), 0, count - 1);
            shapes_.erase(row);
            if (count > 0) endRemoveRows();
        }
        is_changing_ = false;
        opened_.insert(opened_.begin(), stay.begin(), stay.end());
    }

    static QString time_text(std::int64_t ns, const char* form) {
        std::int64_t us = ns / 1000;
        if (ns % 1000 < 0) --us;
        std::int64_t within = us % 1'000'000;
        if (within < 0) within += 1'000'000;
        const QDateTime second = QDateTime::fromMSecsSinceEpoch((us - within) / 1000);
        return second.toString(QLatin1String(form)) + QLatin1Char('.') +
               QString::number(within).rightJustified(6, QLatin1Char('0'));
    }

    static QVariant data_of(const reading::record& record, int column, int role) {
        const std::int64_t ns = record.raw().wall_ns;
        if (role == level_role) return static_cast<int>(record.level());
        if (role == ns_role) return static_cast<qlonglong>(ns);
        const bool is_tip = role == Qt::ToolTipRole, is_value = role == value_role;
        const auto shown = [is_tip](QString text) { return is_tip ? tip(std::move(text)) : text; };
        const auto named = [&](std::string_view name, std::uint32_t id) -> QVariant {
            if (is_value) return id;
            const auto number = QString::number(id);
            return shown(name.empty() ? number : detail::string_of(name) + QLatin1Char(' ') + number);
        };
        switch (column) {
            case time:
                if (is_value) return QDateTime::fromMSecsSinceEpoch(ns / 1'000'000);
                return time_text(ns, is_tip ? "yyyy-MM-dd HH:mm:ss" : "HH:mm:ss");
            case level:
                if (is_value) return static_cast<int>(record.level());
                return detail::string_of(name_of(record.level()));
            case category:
                return shown(detail::string_of(record.category()));
            case process:
                return named(record.process(), record.pid());
            case thread:
                return named(record.thread(), record.tid());
            case message:
                return shown(detail::string_of(record.message()));
            case place: {
                if (record.file().empty()) return QString();
                QString file = detail::string_of(record.file());
                if (!is_tip) file = file.mid(file.lastIndexOf(QLatin1Char('/')) + 1);
                return shown(file + QLatin1Char(':') + QString::number(record.line()));
            }
            case function:
                return shown(detail::string_of(record.function()));
            default:
                return {};
        }
    }

    static QVariant data_of(const reading::value& value, const QModelIndex& index, int role) {
        if (role == value_role) return detail::variant_of(value);
        if (role == unit_role) return detail::string_of(value.unit());
        if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
        const QString text = text_of(value, index);
        return role == Qt::ToolTipRole ? tip(text) : text;
    }
    static QString text_of(const reading::value& value, const QModelIndex& index) {
        switch (index.column()) {
            case 0:
                return value.name().empty() ? QString::number(index.row()) : detail::string_of(value.name());
            case 1:
                return detail::string_of(value.text());
            default:
                return type_text(value);
        }
    }
    static QString type_text(const reading::value& value) {
        static const char* const names[] = {"null",    "bool", "int",   "uint", "integer", "number",   "char",
                                            "pointer", "text", "bytes", "uuid", "time",    "duration", "enum",
                                            "list",    "set",  "tuple", "map",  "struct"};
        const auto at = static_cast<std::size_t>(value.kind());
        QString text = value.type().empty() ? QString::fromLatin1(at < std::size(names) ? names[at] : "?")
                                            : detail::string_of(value.type());
        if (value.missing() > 0) text += QStringLiteral(" (+%1)").arg(value.missing());
        return text;
    }

    int rows_ = 0;
    std::uint64_t generation_ = 0;
    QString filter_;
    reading::state state_ = reading::state::finished;
    bool waits_ = false, is_changing_ = false;
    std::function<void(const QStringList&)> on_change_;
    // The one used last is the first.
    mutable std::list<std::shared_ptr<const detail::run>> runs_;
    // Runs that came while data() waited.
    mutable detail::news untold_;
    std::unordered_map<int, std::unique_ptr<detail::shape>> shapes_;
    std::deque<int> opened_;  // those of shapes_: the one opened first is the first
    // Numbers for which nothing could be read.
    mutable std::unordered_set<std::uint64_t> lost_;
    // Records whose values are to be inserted when they are there.
    std::vector<int> awaited_;
    std::unique_ptr<detail::model_reader> reader_;  // the last: its thread ends before anything goes
};

}  // namespace silverpoint::qt
